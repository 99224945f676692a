/* SPDX-License-Identifier: MIT */
/*
 * For everywhere.t: goes through much of libstdc++, libgcc_s and libc, the same each time, and prints what comes of it.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct base {
	virtual ~base() = default;
	virtual int number() const { return 1; }
};

struct derived : base {
	int number() const override { return 2; }
};

static int unwound;

struct counted {
	~counted() { unwound++; }
};

static void thrower(int depth)
{
	counted here;

	if (!depth)
		throw std::out_of_range("deep");
	thrower(depth - 1);
}

static int throws()
{
	int caught = 0;

	for (int i = 0; i < 20; i++)
		try {
			thrower(i);
		} catch (const std::logic_error &e) {
			caught += static_cast<int>(std::strlen(e.what()));
		}
	try {
		std::vector<int>(3).at(5) = 1;
	} catch (...) {
		caught++;
	}
	try {
		try {
			(void)std::stoi("no number");
		} catch (...) {
			std::throw_with_nested(std::runtime_error("outer"));
		}
	} catch (const std::exception &e) {
		try {
			std::rethrow_if_nested(e);
		} catch (const std::invalid_argument &) {
			caught++;
		}
	}
	return caught;
}

static std::string streams()
{
	std::ostringstream out;
	std::istringstream in("12 0x1f 3.5 word true");
	int a, b;
	double d;
	std::string word;
	bool flag;

	in >> a >> std::hex >> b >> std::dec >> d >> word >> std::boolalpha >> flag;
	out << std::setw(8) << std::setfill('*') << a << ' ' << b << ' ' << std::fixed << std::setprecision(3) << d
	    << ' ' << word << ' ' << flag << ' ' << std::scientific << 12345.678 << ' ' << std::put_money("1234");
	std::tm tm = {};
	std::istringstream("2020-02-03 04:05:06") >> std::get_time(&tm, "%Y-%m-%d %H:%M:%S");
	out << ' ' << std::put_time(&tm, "%j %A %H") << ' ' << std::wstring(L"wide").size();
	return out.str();
}

static size_t texts()
{
	std::regex words("([a-z]+)([0-9]*)", std::regex::icase);
	std::string text = "alpha1 Beta22 gamma333 delta", all;
	size_t n = 0;

	for (std::sregex_iterator i(text.begin(), text.end(), words), end; i != end; ++i)
		n += (*i)[2].length() * 100 + (*i)[1].length();
	all = std::regex_replace(text, std::regex("a"), "--");
	for (int i = 0; i < 100; i++)
		all.insert(all.size() / 2, std::to_string(i * i));
	all.erase(3, 50);
	return n * 1000 + all.find("81") + all.rfind("a") + all.size();
}

static int compare(const void *a, const void *b)
{
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static long plain()
{
	std::mt19937 random(7);
	std::map<std::string, int> map;
	std::vector<int> numbers;
	char line[200], *copy, *save = nullptr;
	long sum = 0;

	for (int i = 0; i < 500; i++) {
		numbers.push_back(static_cast<int>(random() % 1000));
		map["k" + std::to_string(numbers.back() % 50)]++;
	}
	std::qsort(numbers.data(), numbers.size(), sizeof(int), compare);
	std::stable_sort(numbers.begin(), numbers.end(), std::greater<int>());
	for (auto &entry : map)
		sum += entry.second * static_cast<long>(entry.first.size());
	std::snprintf(line, sizeof(line), "%d,%s,%08x,%.6g,%a,%lld", numbers[7], "text", 0xbeef, 3.14159, 0.5, -5ll);
	copy = strdup(line);
	for (char *part = strtok_r(copy, ",", &save); part; part = strtok_r(nullptr, ",", &save))
		sum += static_cast<long>(std::strlen(part)) + std::strtol(part, nullptr, 0) +
		       std::lround(std::atof(part));
	std::free(copy);
	if (FILE *file = std::tmpfile()) {
		std::fprintf(file, "%s\n%ls\n", line, L"more");
		std::rewind(file);
		while (std::fgets(line, sizeof(line), file))
			sum += line[1];
		std::fclose(file);
	}
	return sum;
}

int main()
{
	std::shared_ptr<base> object = std::make_shared<derived>();
	int thrown = throws();

	std::cout << thrown << ' ' << unwound << '\n' << streams() << '\n' << texts() << '\n' << plain() << '\n';
	std::cout << (dynamic_cast<derived *>(object.get()) ? object->number() : 0) << std::endl;
}
