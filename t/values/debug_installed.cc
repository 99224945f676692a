/* SPDX-License-Identifier: MIT */
/* For debug_installed.t: calls many functions of libstdc++, with arguments of many types. */
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <locale>
#include <random>
#include <sstream>
#include <string>
#include <system_error>

namespace fs = std::filesystem;

static size_t strings()
{
	std::string one("a text that is longer than sixteen bytes"), two("short"), three(30, 'x'), four(one, 2, 9);

	one.append("more", 2).append(two).append(5, '!').append(two, 1, 3);
	one.push_back('c');
	one.replace(1, 2, "replaced").replace(3, 1, two).replace(0, 2, 4, 'r').replace(2, 3, "bytes", 4);
	one.insert(4, "inserted").insert(2, two).insert(1, 3, 'i').insert(0, "some bytes", 6);
	one.erase(3, 5).resize(20, 'z');
	one.reserve(200);
	one.assign("assigned").assign(two).assign("part of it", 4).assign(7, 'a');
	two.swap(one);
	two.shrink_to_fit();
	four = one.substr(1, 3) + two + "end" + 'c';
	size_t sum = one.find("or", 0) + one.find('t', 1) + two.find(one, 2) + two.find("ab", 0, 1) + one.rfind('s') +
		     one.rfind("ho", 9) + one.find_first_of("xyz", 1) + one.find_last_of("rt", 4) +
		     one.find_first_not_of("s", 0) + one.find_last_not_of("t", 99);
	sum += (size_t)(one.compare(two) + one.compare("short") + one.compare(1, 2, two) + one.compare(0, 3, "sho", 2));
	three.clear();
	return sum + three.size() + (size_t)four.at(2) + one.copy(&four[0], 2, 1);
}

static size_t wide()
{
	std::wstring one(L"wide"), two(4, L'w');

	one.append(two).append(L"literal").push_back(L'x');
	one.insert(1, two).erase(2, 3).resize(9, L'y');
	one.replace(1, 2, L"abc");
	return one.find(L"i", 1) + one.find(two, 0) + one.rfind(L'y', 7) + (size_t)one.compare(two);
}

static void streams(const char *name)
{
	std::ostringstream to;
	bool truth = true;
	short s = -5;
	unsigned short us = 7;
	long l = -123456789012;
	float f = 1.5f;

	to << 1 << ' ' << 2u << " text " << l << 4ul << -5ll << 6ull;
	to << s << us << truth << 2.25 << f << (void *)0x1234 << '\n';
	to.put('c').write("written", 4).flush();
	to.width(8);
	to.precision(3);
	to.fill('*');
	to.setf(std::ios::hex, std::ios::basefield);
	to.seekp(2).tellp();
	to.str("12 13 -14 2.5 3.5 word 0x10 line\nrest");
	std::istringstream from(to.str());
	int i;
	unsigned u;
	double d;
	std::string word;
	from >> i >> u >> l >> d >> f >> word >> s;
	from.clear();
	std::getline(from, word);
	std::getline(from, word, 's');
	from.get();
	from.peek();
	from.unget();
	from.putback('e');
	from.ignore(2, 't');
	from.seekg(3, std::ios::beg);
	from.setstate(std::ios::failbit);
	std::ofstream file(name, std::ios::app);
	file << "to a file" << std::endl;
	file.close();
	std::ifstream again;
	again.open(name, std::ios::in | std::ios::binary);
	char line[32];
	again.getline(line, sizeof(line), 'f');
	again.read(line, 3);
	again.is_open();
	std::filebuf buffer;
	buffer.open(std::string(name), std::ios::in);
	buffer.pubseekoff(3, std::ios::cur);
	std::cout.sync_with_stdio(true);
	std::cerr.copyfmt(std::cout);
}

static void others(const char *name)
{
	std::error_code error;
	fs::path path("/usr/lib/../share/file.txt"), other(name);

	path.lexically_normal().lexically_relative("/usr");
	path.filename();
	path.replace_extension(".cc").replace_filename("other");
	(path / "more").parent_path().root_path();
	path += "end";
	path.compare("/usr");
	path.has_filename();
	fs::exists(fs::status(other));
	fs::file_size(other, error);
	fs::is_empty(other, error);
	fs::permissions(other, fs::perms::owner_all, fs::perm_options::add, error);
	fs::rename(other, std::string(name) + ".new", error);
	fs::remove(std::string(name) + ".new", error);
	fs::create_directory("/nonexistent/x", error);
	fs::current_path();
	std::generic_category().message(2);
	std::system_category().default_error_condition(13);
	error.message();
	std::locale classic = std::locale::classic(), copy(classic), named("C");
	copy == named;
	copy.name();
	std::ostringstream to;
	to.imbue(classic);
	std::random_device random("/dev/urandom");
	random();
	random.entropy();
	std::chrono::system_clock::now();
	std::chrono::steady_clock::now();
	try {
		std::string("x").at(7);
	} catch (const std::exception &e) {
		std::cout << e.what() << "\n";
	}
	try {
		std::stoi("none");
	} catch (const std::exception &e) {
		std::cout << e.what() << "\n";
	}
}

int main(int, char **argv)
{
	std::cout << strings() + wide() << "\n";
	streams(argv[1]);
	others(argv[1]);
	return 0;
}
