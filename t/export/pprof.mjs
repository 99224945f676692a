// SPDX-License-Identifier: MIT
//
// pprof.mjs FILE: a profile of pprof, as npm's pprof-format reads it, as JSON: types, and samples, each with its
// values, its labels, and its stack, the innermost first.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { Profile } from 'pprof-format'

const profile = Profile.decode(gunzipSync(readFileSync(process.argv[2])))
const text = number => profile.stringTable.strings[Number(number)]
const by_id = list => new Map(list.map(one => [Number(one.id), one]))
const functions = by_id(profile.function), mappings = by_id(profile.mapping), locations = by_id(profile.location)

function place(id) {
	const location = locations.get(Number(id)), mapping = mappings.get(Number(location.mappingId))
	const line = functions.get(Number(location.line[0].functionId))
	if (location.address < mapping.memoryStart || location.address >= mapping.memoryLimit)
		throw Error('a place is outside of its library')
	return { name: text(line.name), symbol: text(line.systemName), library: text(mapping.filename),
		build_id: text(mapping.buildId),
		offset: Number(BigInt(location.address) - BigInt(mapping.memoryStart)) }
}

console.log(JSON.stringify({
	types: profile.sampleType.map(one => ({ type: text(one.type), unit: text(one.unit) })),
	default: text(profile.defaultSampleType),
	comments: profile.comment.map(text),
	time: Number(profile.timeNanos),
	duration: Number(profile.durationNanos),
	samples: profile.sample.map(one => ({
		values: one.value.map(Number),
		stack: one.locationId.map(place),
		labels: Object.fromEntries(one.label.map(label =>
			[text(label.key), label.str ? text(label.str) : Number(label.num)])),
	})),
}))
