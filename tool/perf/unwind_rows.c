/* SPDX-License-Identifier: MIT */
#include "tool/perf/unwind_rows.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#include "tool/perf/bytes.h"
#include "tool/perf/leb128.h"

#define REGISTERS 17 /* of x86-64, with the return address */
#define RETURN	  16

static void add_byte(struct perf_bytes *to, unsigned byte)
{
	perf_add(to, &(uint8_t){ (uint8_t)byte }, 1);
}

/* One operation of an expression. False: it is none of those that are known here. */
static bool add_operation(struct perf_bytes *to, const Dwarf_Op *op)
{
	add_byte(to, op->atom);
	switch (op->atom) {
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_deref_size:
	case DW_OP_pick: perf_add(to, &op->number, 1); return true;
	case DW_OP_const2u:
	case DW_OP_const2s: perf_add(to, &op->number, 2); return true;
	case DW_OP_const4u:
	case DW_OP_const4s: perf_add(to, &op->number, 4); return true;
	case DW_OP_const8u:
	case DW_OP_const8s: perf_add(to, &op->number, 8); return true;
	case DW_OP_constu:
	case DW_OP_plus_uconst: leb128_add_unsigned(to, op->number); return true;
	case DW_OP_consts: leb128_add_signed(to, (int64_t)op->number); return true;
	case DW_OP_bregx:
		leb128_add_unsigned(to, op->number);
		leb128_add_signed(to, (int64_t)op->number2);
		return true;
	case DW_OP_deref:
	case DW_OP_dup:
	case DW_OP_drop:
	case DW_OP_over:
	case DW_OP_swap:
	case DW_OP_rot:
	case DW_OP_abs:
	case DW_OP_nop: return true;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		leb128_add_signed(to, (int64_t)op->number);
		return true;
	}
	return (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) ||
	       (op->atom >= DW_OP_and && op->atom <= DW_OP_xor && op->atom != DW_OP_plus_uconst) ||
	       (op->atom >= DW_OP_eq && op->atom <= DW_OP_ne);
}

/* An expression with its length before it. */
static bool add_expression(struct perf_bytes *to, const Dwarf_Op *op, size_t ops)
{
	struct perf_bytes body = { 0 };
	bool known = true;

	for (size_t i = 0; i < ops && known; i++)
		known = add_operation(&body, op + i);
	leb128_add_unsigned(to, body.size);
	perf_add(to, body.at, body.size);
	perf_bytes_free(&body);
	return known;
}

static bool add_cfa(struct perf_bytes *to, const Dwarf_Op *op, size_t ops)
{
	uint64_t reg = op->atom - DW_OP_breg0;
	int64_t offset = (int64_t)op->number;

	if (ops == 1 && op->atom == DW_OP_bregx) {
		reg = op->number;
		offset = (int64_t)op->number2;
	}
	if (ops == 1 && reg < REGISTERS && offset >= 0) {
		add_byte(to, DW_CFA_def_cfa);
		leb128_add_unsigned(to, reg);
		leb128_add_unsigned(to, (uint64_t)offset);
		return true;
	}
	add_byte(to, DW_CFA_def_cfa_expression);
	return add_expression(to, op, ops);
}

/* Where a register of the caller is; a rule as the CIE's, or as there is without one, is left out. */
static bool add_register(struct perf_bytes *to, unsigned reg, const Dwarf_Op *op, size_t ops)
{
	bool is_value = ops && op[ops - 1].atom == DW_OP_stack_value;
	bool from_cfa = ops && op->atom == DW_OP_call_frame_cfa;

	if (!ops) {
		if (op && reg == RETURN) {
			add_byte(to, DW_CFA_undefined);
			leb128_add_unsigned(to, reg);
		}
		return true;
	}
	/* What says nothing of rsp means the CFA. */
	if (reg == 7 && from_cfa && is_value && ops == 2)
		return true;
	if (from_cfa && !is_value && (ops == 1 || (ops == 2 && op[1].atom == DW_OP_plus_uconst))) {
		int64_t offset = ops == 1 ? 0 : (int64_t)op[1].number;
		if (offset % 8 == 0) {
			if (reg == RETURN && offset == -8)
				return true;
			add_byte(to, DW_CFA_offset_extended_sf);
			leb128_add_unsigned(to, reg);
			leb128_add_signed(to, offset / -8);
			return true;
		}
	}
	/* The CFA is what an expression begins with. */
	if (!from_cfa)
		return false;
	add_byte(to, is_value ? DW_CFA_val_expression : DW_CFA_expression);
	leb128_add_unsigned(to, reg);
	return add_expression(to, op + 1, ops - 1 - is_value);
}

static bool add_frame(struct perf_bytes *to, Dwarf_Frame *frame)
{
	bool signal = false;
	Dwarf_Op *op, memory[3];
	size_t ops;

	if (dwarf_frame_info(frame, NULL, NULL, &signal) != RETURN || signal)
		return false;
	if (dwarf_frame_cfa(frame, &op, &ops) || !ops || !add_cfa(to, op, ops))
		return false;
	for (unsigned reg = 0; reg < REGISTERS; reg++)
		if (dwarf_frame_register(frame, (int)reg, memory, &op, &ops) || !add_register(to, reg, op, ops))
			return false;
	return true;
}

static bool try(struct perf_bytes *to, Dwarf_CFI *cfi, uint64_t address)
{
	Dwarf_Frame *frame = NULL;
	size_t before = to->size;
	bool known = cfi && !dwarf_cfi_addrframe(cfi, address, &frame) && add_frame(to, frame);

	free(frame);
	if (!known)
		to->size = before;
	return known;
}

bool perf_row(struct perf_bytes *to, Dwfl_Module *module, uint64_t address)
{
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);

	if (try(to, cfi, address - 1 - bias))
		return true;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	return try(to, cfi, address - 1 - bias);
}
