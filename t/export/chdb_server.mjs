// SPDX-License-Identifier: MIT
// node chdb_server.mjs FOLDER PORTFILE: today's ClickHouse, as chDB has it in a process, behind the part of its HTTP
// interface that xaudit export uses. A statement at a time, so nothing is ever running when another one comes.
import http from 'node:http';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [folder, portFile] = process.argv.slice(2);
const { Session } = createRequire(path.join(process.cwd(), 'x.js'))('chdb');
const session = new Session(path.join(folder, 'data'));
const body = path.join(folder, 'body');

function run(url, data) {
	const given = new URL(url, 'http://x').searchParams;
	const insert = given.get('query');
	if (!insert)
		return session.query(data.toString().replace(/ FORMAT TabSeparated$/, ''), 'TabSeparated');
	const settings = [];
	for (const [name, value] of given)
		if (!['query', 'query_id', 'wait_end_of_query'].includes(name))
			settings.push(`${name} = '${value}'`);
	fs.writeFileSync(body, data);
	return session.query(insert.replace(/ FORMAT RowBinary$/,
		` FROM INFILE '${body}' SETTINGS ${settings.join(', ')} FORMAT RowBinary`), 'TabSeparated');
}

const server = http.createServer((request, response) => {
	const parts = [];
	request.on('data', part => parts.push(part));
	request.on('error', () => {});
	request.on('end', () => {
		try {
			response.end(run(request.url, Buffer.concat(parts)));
		} catch (error) {
			response.statusCode = 500;
			response.end(String(error.message));
		}
	});
});
server.listen(0, '127.0.0.1', () => {
	fs.writeFileSync(portFile + '.new', `${server.address().port}\n`);
	fs.renameSync(portFile + '.new', portFile);
});
