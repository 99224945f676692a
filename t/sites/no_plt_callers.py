# SPDX-License-Identifier: MIT
#
# For gdb: runs the program, and prints for each NAME=SYMBOL of $FUNCTIONS how often the program itself has called it
# by an instruction that names the word which holds its address ("NAME called N"), and how often otherwise ("NAME other
# N"). The symbol is one that libc alone has.
import gdb
import os

counts = {}


class Entry(gdb.Breakpoint):
    def __init__(self, name, symbol):
        super().__init__('*' + symbol)
        self.silent = True
        self.name = name

    def stop(self):
        inferior = gdb.selected_inferior()
        pointer = int(gdb.parse_and_eval('(unsigned long)$rsp'))
        back = int.from_bytes(inferior.read_memory(pointer, 8).tobytes(), 'little')
        if not gdb.solib_name(back):
            call = inferior.read_memory(back - 6, 2).tobytes()
            key = self.name, 'called' if call == b'\xff\x15' else 'other'
            counts[key] = counts.get(key, 0) + 1
        return False


for setting in ('pagination off', 'confirm off', 'print inferior-events off', 'debuginfod enabled off',
                'breakpoint pending on', 'startup-with-shell off'):
    gdb.execute('set ' + setting)
for name in ('LINES', 'COLUMNS'):
    gdb.execute('unset environment ' + name)
gdb.execute('break __libc_start_main')
gdb.execute('run')
gdb.execute('delete')
for function in os.environ['FUNCTIONS'].split():
    Entry(*function.split('='))
gdb.execute('continue')
for (function, how), count in sorted(counts.items()):
    print(function, how, count)
