#!/usr/bin/env python3
# Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
"""Translates the PTX in objects and archives into C++ for the emulated GPU.

    ptx_to_cpp.py FOLDER PIECES FILE...

Writes FOLDER/kernels_0.cpp to kernels_<PIECES - 1>.cpp, which share the kernels, and FOLDER/kernel_list.hpp. One
statement of PTX becomes one of C++, in terms of ptx_instructions.hpp and of the Thread in emulated_kernel.hpp; one
that is not known here becomes a Fault of the kernel. Statements: NVIDIA, Parallel Thread Execution ISA, chapter 9.
"""

import re
import sys
from pathlib import Path

TYPES = {"b8": "std::uint8_t", "u8": "std::uint8_t", "s8": "std::int8_t",
         "b16": "std::uint16_t", "u16": "std::uint16_t", "s16": "std::int16_t",
         "b32": "std::uint32_t", "u32": "std::uint32_t", "s32": "std::int32_t",
         "b64": "std::uint64_t", "u64": "std::uint64_t", "s64": "std::int64_t",
         "f32": "float", "f64": "double", "pred": "bool"}
SPECIAL_REGISTERS = {"%tid.x": "thread.lane", "%ntid.x": "thread.lanes",
                     "%ctaid.x": "thread.block", "%nctaid.x": "thread.blocks"}
# Instructions whose operands are all of the type that is named last, and what comes before that.
FUNCTIONS = {"add", "add.rn", "sub", "sub.rn", "mul.rn", "mul.lo", "mul.hi", "mul.wide", "mad.lo", "fma.rn", "div",
             "div.rn", "rem", "rcp.rn", "sqrt.rn", "min", "max", "abs", "neg", "and", "or", "xor", "not", "clz", "cvta",
             "cvta.to.global"}
# Their last operands, so many, are counts of bits.
COUNTS_OF_BITS = {"shl": 1, "shr": 1, "bfi": 2}
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu"}
ARRAY = r"\.shared \.align (\d+) \.b(\d+) (\w+)\[(\d+)\];"


class Unknown(Exception):
    pass


def aligned(place, align):
    return -(-place // int(align)) * int(align)


def bits(kind):
    return int(kind[1:])


def register(text):
    found = re.fullmatch(r"%([a-z]+)(\d+)", text)
    if not found:
        raise Unknown
    return f"q.{found[1]}[{found[2]}]"


class Kernel:
    """An entry of a PTX module. `arrays`: those in the memory of blocks that the module declares."""

    def __init__(self, name, parameters, body, arrays):
        self.name = name
        # Where parameters, and arrays in the memory of a block, begin [bytes]; of parameters the size, too.
        self.places, self.parameters, self.shared_bytes = {}, [], 0
        for align, width, parameter, count in re.findall(
                r"\.param (?:\.align (\d+) )?\.\w(\d+) (\w+)(?:\[(\d+)\])?", parameters):
            size = int(width) // 8 * int(count or 1)
            self.places[parameter] = aligned(sum(self.parameters[-1]) if self.parameters else 0, align or size)
            self.parameters.append((self.places[parameter], size))
        words = set(re.findall(r"\w+", body))
        for align, width, array, count in arrays:
            if array in words:
                self.places[array] = aligned(self.shared_bytes, align)
                self.shared_bytes = self.places[array] + int(width) // 8 * int(count)
        self.registers = re.findall(r"\.reg \.(\w+) %(\w+)<(\d+)>;", body)
        self.barriers = 0
        body = re.sub(r"^\s*\.(reg|shared|pragma)\b[^;]*;", "", body, flags=re.M)
        body = re.sub(r"^(\$\w+:)", r"\1;", body, flags=re.M)
        lines = (" ".join(line.split()) for line in body.split(";"))
        self.statements = [self.known(line) for line in lines if line]

    def known(self, line):
        try:
            return self.statement(line)
        except (Unknown, KeyError, ValueError):
            return f'throw Fault("comes to a statement of PTX that is not known: {line}");'

    def statement(self, line):
        if line.endswith(":"):
            return line.replace("$", "label_")
        if guard := re.match(r"@(!?)(%p\d+) (.*)", line):
            return f"if ({guard[1]}{register(guard[2])}) {{ {self.statement(guard[3])} }}"
        opcode, _, rest = line.partition(" ")
        operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", rest)
        if opcode == "ret":
            return "thread.barrier = Thread::finished; return;"
        if opcode in ("bra", "bra.uni"):
            return f"goto {operands[0].replace('$', 'label_')};"
        if opcode in ("membar.sys", "fence.acq_rel.sys", "fence.sc.sys"):
            return ";"  # the host looks at memory when all is done
        if opcode == "bar.sync" and operands == ["0"]:
            self.barriers += 1
            return f"thread.barrier = {self.barriers}; return; barrier_{self.barriers}:"
        if opcode == "shfl.sync.bfly.b32":
            self.barriers += 1
            to, *known = operands[0].split("|")
            value, other, last = (self.operand(text, "b32") for text in operands[1:4])
            return " ".join([f"thread.offer({value}); thread.barrier = {self.barriers}; return;",
                             f"barrier_{self.barriers}: put({register(to)}, thread.offered_by({other}, {last}));",
                             *(f"put({register(text)}, true);" for text in known)])
        name, *modifiers, kind = opcode.split(".")
        if name in ("ld", "st"):
            return self.access(name, modifiers, kind, operands)
        if name == "mov":
            return self.move(kind, operands)
        to, *values = operands
        return f"put({register(to)}, {self.value(name, modifiers, kind, values)});"

    def value(self, name, modifiers, kind, values):
        """What an instruction makes of its operands."""
        if name == "setp" and len(modifiers) == 1 and modifiers[0] in COMPARISONS:
            return f"{modifiers[0]}_({self.operand(values[0], kind)}, {self.operand(values[1], kind)})"
        if name == "selp" and not modifiers:
            first, second = (self.operand(text, kind) for text in values[:2])
            return f"{register(values[2])} ? {first} : {second}"
        if name == "cvt":
            *rounding, to = modifiers
            value = self.operand(values[0], kind)
            if rounding == ["rni"] and to == kind:
                return f"std::rint({value})"
            to_integer, of_integer = to[0] != "f", kind[0] != "f"
            loses = not to_integer and (of_integer or bits(to) < bits(kind))
            if rounding == (["rn"] if loses else ["rzi"] if to_integer and not of_integer else []):
                return f"convert<{TYPES[to]}>({value})"
        full_name = ".".join([name, *modifiers])
        if full_name in FUNCTIONS or name in COUNTS_OF_BITS and not modifiers:
            numbers = len(values) - COUNTS_OF_BITS.get(name, 0)
            arguments = [self.operand(text, kind if k < numbers else "u32") for k, text in enumerate(values)]
            return f"{full_name.replace('.', '_')}_<{TYPES[kind]}>({', '.join(arguments)})"
        raise Unknown

    def operand(self, text, kind):
        """The value of an operand, as a number of that kind."""
        cpp = TYPES[kind]
        if text in SPECIAL_REGISTERS:
            return f"as<{cpp}>({SPECIAL_REGISTERS[text]})"
        if text.startswith("%"):
            return f"as<{cpp}>({register(text)})"
        if text in self.places:
            return f"{cpp}{{{self.places[text]}}}"
        if floating := re.fullmatch(r"0[df]([0-9A-Fa-f]{8}|[0-9A-Fa-f]{16})", text):
            return f"as<{cpp}>({TYPES[f'u{4 * len(floating[1])}']}{{0x{floating[1]}}})"
        return f"static_cast<{cpp}>(std::uint64_t{{{int(text, 0) % 2 ** 64}u}})"

    def address(self, text):
        """Of [name+offset]."""
        name, offset = re.fullmatch(r"\[([%\w]+)(?:\+(-?\d+))?\]", text).groups()
        return f"{self.places[name] if name in self.places else register(name)} + {offset or 0}"

    def access(self, name, modifiers, kind, operands):
        """A load or store, of several elements perhaps: all in one, which has to begin at a multiple of its size."""
        if modifiers[:1] == ["volatile"]:
            modifiers = modifiers[1:]
        space, *form = modifiers if modifiers and modifiers[0][0] != "v" else ["global", *modifiers]
        if space not in ("param", "global", "shared") or form not in ([], ["v2"], ["v4"]):
            raise Unknown
        elements, place = operands if name == "ld" else operands[::-1]
        elements, size = re.findall(r"[^{},\s]+", elements), bits(kind) // 8
        statements = [f"thread.require_aligned({self.address(place)}, {size * len(elements)});"]
        for k, element in enumerate(elements):
            where = f"{self.address(place)} + {k * size}"
            if name == "ld":
                statements.append(f"put({register(element)}, thread.load_{space}<{TYPES[kind]}>({where}));")
            else:
                statements.append(f"thread.store_{space}<{TYPES[kind]}>({where}, {self.operand(element, kind)});")
        return " ".join(statements)

    def move(self, kind, operands):
        """Of a register, between one and its parts, the first of which has the lowest bits."""
        to, value = operands
        parts = re.findall(r"[^{},\s]+", to if to.startswith("{") else value)
        part = f"u{bits(kind) // len(parts)}" if kind != "pred" else kind
        if to.startswith("{"):
            whole = self.operand(value, f"u{bits(kind)}")
            return " ".join(f"put({register(text)}, static_cast<{TYPES[part]}>({whole} >> {k * bits(part)}));"
                            for k, text in enumerate(parts) if text != "_")
        if value.startswith("{"):
            whole = TYPES[f"u{bits(kind)}"]
            joined = " | ".join(f"{whole}{{{self.operand(text, part)}}} << {k * bits(part)}"
                                for k, text in enumerate(parts))
            return f"put({register(to)}, static_cast<{whole}>({joined}));"
        return f"put({register(to)}, {self.operand(value, kind)});"

    def cpp(self, number):
        members = " ".join(f"{TYPES[kind]} {prefix}[{count}];" for kind, prefix, count in self.registers)
        go_on = " ".join(f"case {k}: goto barrier_{k};" for k in range(1, self.barriers + 1))
        return "\n".join([f"struct Registers_{number} {{ {members} }};",
                          f"void kernel_{number}(Thread& thread, Registers_{number}& q) {{  // {self.name}",
                          f"switch (thread.barrier) {{ {go_on} default: break; }}", *self.statements, "}"])

    def entry(self, number):
        """What the list of kernels says of it."""
        parameters = ", ".join(f"{{{place}, {size}}}" for place, size in self.parameters)
        run = f"&run_block<Registers_{number}, kernel_{number}>"
        return f'{{"{self.name}", {{{parameters}}}, {self.shared_bytes}, {run}}},'


def kernels_of(path):
    """All kernels in an object or archive, by name."""
    found = {}
    for module in re.findall(rb"\.version \d+\.\d+\n[^\0]*", Path(path).read_bytes()):
        text = re.sub(r"//.*", "", module.decode())
        # Half of a register, the other half going nowhere, has braces of its own.
        text = re.sub(r"\{\s*\.reg \.b32 %temp;(.*?;)\s*\}", lambda half: half[1].replace("%temp", "_"), text, flags=re.S)
        arrays = re.findall(ARRAY, text)
        for name, parameters, body in re.findall(r"\.entry (\w+)\((.*?)\)[^{]*\{\n(.*?)\n\}", text, re.S):
            found[name] = Kernel(name, parameters, body, arrays)
    return found


def main(folder, pieces, *files):
    kernels = {}
    for file in files:
        kernels |= kernels_of(file)
    if not kernels:
        sys.exit("error: there is no PTX in " + " ".join(files))
    numbered = list(enumerate(kernels[name] for name in sorted(kernels)))
    lists = [f"kernels_{piece}" for piece in range(int(pieces))]
    for piece, name in enumerate(lists):
        own = numbered[piece::len(lists)]
        text = ['#include "kernel_list.hpp"', '#include "tests/gpu/emulated/ptx_instructions.hpp"',
                "namespace curlew::emulated {", "namespace {", *(kernel.cpp(number) for number, kernel in own), "}",
                f"std::vector<Kernel> {name}() {{ return {{", *(kernel.entry(number) for number, kernel in own), "}; }", "}"]
        Path(folder, f"{name}.cpp").write_text("\n".join(text) + "\n")
    text = ["#pragma once", '#include "tests/gpu/emulated/emulated_kernel.hpp"', "namespace curlew::emulated {",
            *(f"std::vector<Kernel> {name}();" for name in lists),
            f"inline std::vector<std::vector<Kernel>> all_kernels() {{ return {{{'(), '.join(lists)}()}}; }}", "}"]
    Path(folder, "kernel_list.hpp").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
