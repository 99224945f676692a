// SPDX-License-Identifier: MIT
//
// Chromium for the tests of the page. Each wait is bounded. Results go to standard output, a line per check: "ok" or
// "not ok", a tab, a sentence, and, of what failed, a tab and what was seen.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const modules = resolve(process.env.XAUDIT_NODE_MODULES ?? 'node_modules');
const puppeteer = createRequire(join(modules, 'of'))('puppeteer-core');

export const pause = ms => new Promise(done => setTimeout(done, ms));

export function check(good, sentence, seen) {
	const more = good ? '' : `\t${JSON.stringify(seen ?? null).slice(0, 1500)}`;
	console.log(`${good ? 'ok' : 'not ok'}\t${sentence}${more.replaceAll('#', ' ')}`);
}

export function same(got, expected, sentence) {
	check(JSON.stringify(got) === JSON.stringify(expected), sentence, { got, expected });
}

export async function browse(work) {
	const browser = await puppeteer.launch({
		executablePath: process.env.CHROMIUM ?? 'chromium',
		headless: true,
		args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--font-render-hinting=none'],
		timeout: 60000,
		userDataDir: process.env.CHROMIUM_FOLDER,
	});
	try {
		await work(browser);
	} finally {
		await browser.close();
	}
}

// A page that is ready, and what it complained of, asked for, and opened.
export async function open(browser, file, hash = '', options = {}) {
	const page = await browser.newPage();
	page.setDefaultTimeout(60000);
	const complaints = [];
	const requests = [];
	const dialogs = [];
	page.on('console', m => complaints.push(m.text()));
	page.on('pageerror', e => complaints.push(String(e)));
	page.on('request', r => requests.push(r.url().slice(0, 200)));
	page.on('dialog', d => {
		dialogs.push(d.message());
		d.dismiss().catch(() => undefined);
	});
	await page.setViewport({ width: options.width ?? 1280, height: options.height ?? 800, deviceScaleFactor: 1 });
	await page.emulateMediaFeatures([
		{ name: 'prefers-color-scheme', value: options.scheme ?? 'light' },
		{ name: 'prefers-reduced-motion', value: 'reduce' },
	]);
	await page.bringToFront();
	const begun = Date.now();
	await page.goto(`file://${file}${hash}`, { waitUntil: 'load', timeout: 60000 });
	if (!options.broken) {
		await page
			.waitForFunction('document.documentElement.dataset.ready === "yes"', {
				timeout: 60000,
				polling: 100,
			})
			.catch(e => {
				throw new Error(`${e.message}; the page said: ${complaints.join('; ')}`);
			});
		// The first picture, and what it wanted of blocks.
		await page.evaluate('new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))');
	}
	return { page, complaints, requests, dialogs, took: Date.now() - begun };
}

// Waits until the expression is true in the page; false if it never is.
export async function until(page, expression, ms = 10000) {
	return page.waitForFunction(expression, { timeout: ms, polling: 30 }).then(
		() => true,
		() => false,
	);
}
