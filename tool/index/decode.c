/* SPDX-License-Identifier: MIT */
#include "tool/index/decode.h"

#include <Zydis/Zydis.h>

/* What insn_decode() took last on this thread. */
static _Thread_local ZydisDecoderContext last_context;
static _Thread_local ZydisDecodedInstruction last;

/* Made once by each thread. */
static const ZydisDecoder *decoder(void)
{
	static _Thread_local ZydisDecoder made;
	static _Thread_local bool is_made;

	if (!is_made)
		is_made = ZYAN_SUCCESS(
			ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
	return &made;
}

static uint8_t flow_of(const ZydisDecodedInstruction *in)
{
	bool direct = in->raw.imm[0].is_relative, far = in->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
		return far ? INSN_OTHER : direct ? INSN_JUMP : INSN_JUMP_INDIRECT;
	case ZYDIS_MNEMONIC_CALL:
		return far ? INSN_OTHER : direct ? INSN_CALL : INSN_CALL_INDIRECT;
	case ZYDIS_MNEMONIC_RET:
		return in->opcode == 0xc2 || in->opcode == 0xc3 ? INSN_RET : INSN_OTHER;
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
		return INSN_LOOP;
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		return INSN_STOP;
	case ZYDIS_MNEMONIC_XABORT:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XEND:
		return INSN_OTHER;
	default:
		break;
	}
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		/* By VEX there are some of a processor that is no more. */
		return direct && in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? INSN_JCC : INSN_OTHER;
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return INSN_OTHER;
	default:
		return in->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ? INSN_OTHER : INSN_NEXT;
	}
}

/* VEX has its register bits inverted in the bytes; Zydis gives them as they are in the fields below. */
static unsigned extended(const ZydisDecodedInstruction *in, char which)
{
	switch (in->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		return !(which == 'R' ? in->raw.vex.R : which == 'X' ? in->raw.vex.X : in->raw.vex.B);
	case ZYDIS_INSTRUCTION_ENCODING_EVEX:
		return !(which == 'R' ? in->raw.evex.R : which == 'X' ? in->raw.evex.X : in->raw.evex.B);
	case ZYDIS_INSTRUCTION_ENCODING_XOP:
		return !(which == 'R' ? in->raw.xop.R : which == 'X' ? in->raw.xop.X : in->raw.xop.B);
	default:
		return which == 'R' ? in->raw.rex.R : which == 'X' ? in->raw.rex.X : in->raw.rex.B;
	}
}

static void operand(const ZydisDecodedInstruction *in, struct insn *insn)
{
	insn->modrm = true;
	insn->modrm_at = in->raw.modrm.offset;
	insn->reg = (int8_t)(in->raw.modrm.reg | extended(in, 'R') << 3);
	if (in->raw.modrm.mod == 3) {
		insn->rm = (int8_t)(in->raw.modrm.rm | extended(in, 'B') << 3);
		return;
	}
	insn->memory = true;
	insn->displacement = (int32_t)in->raw.disp.value;
	if (in->raw.modrm.rm == 4) {
		int index = (int)(in->raw.sib.index | extended(in, 'X') << 3);
		insn->index = (int8_t)(index == INSN_RSP ? INSN_NO_REG : index);
		if (in->raw.sib.base != 5 || in->raw.modrm.mod)
			insn->base = (int8_t)(in->raw.sib.base | extended(in, 'B') << 3);
	} else if (in->raw.modrm.rm == 5 && !in->raw.modrm.mod) {
		insn->base = INSN_RIP;
		insn->displacement_at = in->raw.disp.offset;
		insn->target = insn->address + insn->length + (uint64_t)(int64_t)insn->displacement;
	} else {
		insn->base = (int8_t)(in->raw.modrm.rm | extended(in, 'B') << 3);
	}
}

int insn_decode(const uint8_t *bytes, size_t room, uint64_t address, struct insn *insn)
{
	const ZydisDecodedInstruction *const in = &last;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder(), &last_context, bytes, room, &last)))
		return 0;
	*insn = (struct insn){ .address = address,
		.length = in->length,
		.opcode = in->opcode,
		.base = INSN_NO_REG,
		.index = INSN_NO_REG,
		.rm = INSN_NO_REG };
	insn->map = (uint8_t)(in->opcode_map - ZYDIS_OPCODE_MAP_DEFAULT +
			      (in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? 0 : 16));
	insn->flow = flow_of(in);
	insn->wide = in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && in->raw.rex.W;
	insn->rex_b = in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && in->raw.rex.B;
	insn->narrow = in->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE && !insn->wide;
	insn->short_address = in->attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE;
	insn->segment = in->attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS);
	insn->nop = in->mnemonic == ZYDIS_MNEMONIC_NOP || in->mnemonic == ZYDIS_MNEMONIC_INT3;
	if (in->attributes & ZYDIS_ATTRIB_HAS_MODRM)
		operand(in, insn);
	for (int i = 0; i < in->raw.prefix_count; i++)
		insn->repeated |= in->raw.prefixes[i].value == 0xf2 || in->raw.prefixes[i].value == 0xf3;
	if (in->raw.imm[0].is_relative) {
		insn->relative = true;
		insn->target = address + in->length + (uint64_t)in->raw.imm[0].value.s;
	} else if (in->raw.imm[0].size) {
		insn->has_immediate = true;
		insn->immediate = in->raw.imm[0].is_signed ? in->raw.imm[0].value.s : (int64_t)in->raw.imm[0].value.u;
	}
	return 1;
}

void insn_effect(struct insn_effect *effect)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];

	*effect = (struct insn_effect){ 0 };
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(
		    decoder(), &last_context, &last, operand, last.operand_count)))
		return;
	for (int i = 0; i < last.operand_count; i++) {
		const ZydisDecodedOperand *of = &operand[i];
		ZydisRegister whole = ZYDIS_REGISTER_NONE;
		if (of->type == ZYDIS_OPERAND_TYPE_MEMORY && of->encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM)
			effect->bytes = of->size / 8u;
		if (of->type == ZYDIS_OPERAND_TYPE_REGISTER && of->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, of->reg.value);
		if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15)
			effect->written |= 1u << (unsigned)(whole - ZYDIS_REGISTER_RAX);
	}
}

unsigned insn_text(const uint8_t *bytes, size_t room, uint64_t address, char *to, size_t size)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisFormatter formatter;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), bytes, room, &in, operand)) ||
		!ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)) ||
		!ZYAN_SUCCESS(ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE)) ||
		!ZYAN_SUCCESS(ZydisFormatterSetProperty(
			&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED)) ||
		!ZYAN_SUCCESS(ZydisFormatterSetProperty(
			&formatter, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE)) ||
		!ZYAN_SUCCESS(ZydisFormatterSetProperty(
			&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED)) ||
		!ZYAN_SUCCESS(ZydisFormatterSetProperty(
			&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED)) ||
		!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
			&formatter, &in, operand, in.operand_count_visible, to, size, address, NULL)))
		return 0;
	return in.length;
}
