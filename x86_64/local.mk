# SPDX-License-Identifier: MIT
#
# x86_64/libx86_64.la: all that knows the machine. It is compiled for threads of the program (no vector registers, no
# libc).
#
# x86_64/offsets.h is made of x86_64/offsets.c, which is compiled to assembly and never run: an asm with
# .ascii "->SYMBOL %0" and an "i" operand gives a line "#define SYMBOL value".
noinst_LTLIBRARIES += x86_64/libx86_64.la
x86_64_libx86_64_la_SOURCES = x86_64/altstack.S x86_64/clone.h x86_64/confined.h x86_64/contract.h x86_64/control.S \
	x86_64/copy.h x86_64/cpu.h x86_64/dlclose_call.S x86_64/dlclose_call.h x86_64/elf.h x86_64/empty.S \
	x86_64/empty.h x86_64/frame.S x86_64/frame.h x86_64/labels.c x86_64/labels.h x86_64/libc.h x86_64/mirror.c \
	x86_64/mirror.h x86_64/mirror_split.c x86_64/mirror_split.h x86_64/mirror_structs.h x86_64/pages.c \
	x86_64/pages.h x86_64/patch.c x86_64/patch.h x86_64/remote.h x86_64/stack_pages.c x86_64/stack_pages.h \
	x86_64/stub.c x86_64/stub.h x86_64/stub_fixed.S x86_64/sys.h x86_64/tramp.S x86_64/tramp.h \
	x86_64/tramp_calls.h x86_64/tramp_count.S x86_64/tramp_cyg.S x86_64/tramp_event.S x86_64/tramp_handlers.S \
	x86_64/tramp_intercept.S x86_64/tramp_labels.S x86_64/tramp_pieces.h x86_64/tramp_probe.S \
	x86_64/tramp_sample.S x86_64/tramp_text.h x86_64/tramp_xray.S x86_64/vectors.S x86_64/vectors.h \
	x86_64/wait.S x86_64/xsave.c x86_64/xsave.h
x86_64_libx86_64_la_CFLAGS = $(MODULE_THREAD_CFLAGS)
x86_64_libx86_64_la_CCASFLAGS = -fPIC
EXTRA_DIST += x86_64/offsets.c
CLEANFILES += x86_64/offsets.h x86_64/offsets.s x86_64/offsets.d

# Names without $@: where the source folder was a build folder once, VPATH would make $@ the file there.
x86_64/offsets.h: x86_64/offsets.c
	$(AM_V_GEN)$(MKDIR_P) x86_64
	$(AM_V_at)$(CC) $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) $(WARN_CFLAGS) \
		$(THREAD_CFLAGS) -fno-lto -MD -MP -MT x86_64/offsets.h -MF x86_64/offsets.d -S \
		-o x86_64/offsets.s $(srcdir)/x86_64/offsets.c
	$(AM_V_at)$(SED) -n 's/^.*->\([A-Za-z0-9_]*\) \$$\{0,1\}\(-\{0,1\}[0-9][0-9]*\).*$$/#define \1 \2/p' \
		x86_64/offsets.s > x86_64/offsets.h.new
	$(AM_V_at)test -s x86_64/offsets.h.new && mv x86_64/offsets.h.new x86_64/offsets.h

-include x86_64/offsets.d

# BUILT_SOURCES alone does not cover `make t/foo.t`.
$(x86_64_libx86_64_la_OBJECTS): x86_64/offsets.h

# x86_64/libsled.la: the bytes of sleds, of displaced entries and of stubs of probes, for module and command; for
# program threads, too.
noinst_LTLIBRARIES += x86_64/libsled.la
x86_64_libsled_la_SOURCES = x86_64/displace.c x86_64/displace.h x86_64/probe.c x86_64/probe.h \
	x86_64/sled.c x86_64/sled.h
x86_64_libsled_la_CFLAGS = $(MODULE_THREAD_CFLAGS)
