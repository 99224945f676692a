// SPDX-License-Identifier: MIT
//
// speedscope.mjs FILE: opens the file in speedscope, in a headless browser, and prints what that saves: its own format.
// Errors of the page, and what it says to its console as an error, are lines on standard error, and status 1. Whoever
// starts this bounds how long it takes.
import { createRequire } from 'node:module'
import path from 'node:path'
import puppeteer from 'puppeteer-core'

const page_file = path.join(path.dirname(createRequire(import.meta.url).resolve('speedscope/package.json')),
	'dist/release/index.html')
const browser = await puppeteer.launch({
	executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
	args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--allow-file-access-from-files'],
	timeout: 0,
})
let wrong = 0
try {
	const page = await browser.newPage()
	page.setDefaultTimeout(0)
	const say = text => { wrong = 1; console.error(text) }
	page.on('pageerror', error => say(`error: ${error}`))
	page.on('dialog', dialog => { say(`dialog: ${dialog.message()}`); dialog.dismiss() })
	page.on('console', message => message.type() === 'error' && say(`console: ${message.text()}`))
	// What the page gives the user to save is kept here instead.
	await page.evaluateOnNewDocument(() => {
		const make = URL.createObjectURL
		URL.createObjectURL = blob => { window.saved = blob; return make.call(URL, blob) }
		HTMLAnchorElement.prototype.click = () => {}
	})
	await page.goto(`file://${page_file}`)
	const input = await page.waitForSelector('input[type=file]')
	await input.uploadFile(path.resolve(process.argv[2]))
	// The drop zone goes when the profile is there. Keys are listened to some time later.
	await page.waitForFunction(() => !document.querySelector('input[type=file]'))
	while (!await page.evaluate(() => Boolean(window.saved))) {
		await page.keyboard.down('Control')
		await page.keyboard.press('s')
		await page.keyboard.up('Control')
		await new Promise(done => setTimeout(done, 200))
	}
	const text = await page.evaluate(() => window.saved.text())
	await new Promise(done => process.stdout.write(text, done))
} catch (error) {
	console.error(`${error}`)
	wrong = 1
} finally {
	await browser.close()
}
process.exitCode = wrong
