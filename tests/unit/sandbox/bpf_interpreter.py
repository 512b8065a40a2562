"""What would the kernel do with this call? An interpreter of classic BPF over struct seccomp_data."""

import struct

I386, X32_BIT = 0x40000003, 0x40000000


def verdict_value(program: bytes, audit: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """What the filter returns for this call on a machine of this audit number."""
    padded = arguments + (0,) * (6 - len(arguments))
    return interpret(program, struct.pack("<IIQ6Q", number, audit, 0, *padded))


def interpret(program: bytes, data: bytes) -> int:
    accumulator, position = 0, 0
    while True:
        code, if_true, if_false, constant = struct.unpack_from("<HBBI", program, 8 * position)
        position += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, constant)
            case 0x54:
                accumulator &= constant
            case 0x15:
                position += if_true if accumulator == constant else if_false
            case 0x35:
                position += if_true if accumulator >= constant else if_false
            case 0x45:
                position += if_true if accumulator & constant else if_false
            case 0x06:
                return constant
            case _:
                raise ValueError(f"instruction {code:#x}")
