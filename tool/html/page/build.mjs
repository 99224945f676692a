// SPDX-License-Identifier: MIT
//
// node build.mjs OUT.html: the page without a trace: markup, style and script in one file, and a line where the
// command puts the data. Modules come from the folder XAUDIT_NODE_MODULES, else from ../npm/node_modules.
// Nothing else is written.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) {
	console.error('usage: node build.mjs OUT.html');
	process.exit(2);
}
const modules = resolve(process.env.XAUDIT_NODE_MODULES || join(here, '../npm/node_modules'));
const esbuild = createRequire(join(modules, 'of'))('esbuild');
const read = name => readFileSync(join(here, name), 'utf8');

const bundle = await esbuild.build({
	entryPoints: [join(here, 'src/main.ts')],
	bundle: true,
	write: false,
	minify: true,
	format: 'iife',
	target: 'es2022',
	charset: 'utf8',
	nodePaths: [modules],
	legalComments: 'none',
	tsconfig: join(here, 'tsconfig.json'),
	logLevel: 'warning',
});
const style = await esbuild.transform(
	readFileSync(join(modules, 'uplot/dist/uPlot.min.css'), 'utf8') +
		['base', 'timeline', 'panels', 'media'].map(name => read(`css/${name}.css`)).join(''),
	{ loader: 'css', minify: true, charset: 'utf8', legalComments: 'none' },
);
const licence = readFileSync(join(modules, 'uplot/LICENSE'), 'utf8').trim();
// What would end the element, or begin a comment in it, is no part of either text.
const own = `/*\nxaudit: SPDX-License-Identifier: MIT\n\nuPlot, github.com/leeoniya/uPlot:\n\n${licence}\n*/\n`;
const script = own + bundle.outputFiles[0].text.trim();
const css = style.code.trim();
const mark = ['<!--', 'XAUDIT-DATA', '-->'].join('');
for (const text of [script, css]) if (/<\/(script|style)|<!--/i.test(text)) throw new Error('the bundle holds markup');

const hash = text => `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
const csp =
	`default-src 'none'; script-src ${hash(script)}; style-src ${hash(css)}; img-src data: blob:; ` +
	"base-uri 'none'; form-action 'none'";
const parts = { CSP: csp, STYLE: css, DATA: mark, SCRIPT: script };
writeFileSync(
	out,
	read('page.html').replace(/@(CSP|STYLE|DATA|SCRIPT)@/g, (_, name) => parts[name]),
);
