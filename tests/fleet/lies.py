# SPDX-License-Identifier: MIT
"""What somebody who can write to a store can put there, checksums mended: everything but a signature of a trusted key."""
import ctypes
import os
import struct

HEADER, SEAL, SUM = 32, 112, 16  # bytes
XXH, ZSTD = ctypes.CDLL('libxxhash.so.0'), ctypes.CDLL('libzstd.so.1')
XXH.XXH3_64bits_withSeed.restype = ctypes.c_uint64
XXH.XXH3_64bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
ZSTD.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
for each in ('ZSTD_compress', 'ZSTD_decompress', 'ZSTD_compressBound'):
    getattr(ZSTD, each).restype = ctypes.c_size_t


class Sum128(ctypes.Structure):
    _fields_ = [('low', ctypes.c_uint64), ('high', ctypes.c_uint64)]


XXH.XXH3_128bits.restype = Sum128
XXH.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def take_apart(wire):
    """The entry, and its seal or nothing: docs/cache-format.md."""
    sealed = struct.unpack_from('<I', wire, 12)[0]
    size = struct.unpack_from('<Q', wire, 16)[0]
    rest = wire[HEADER:]
    seal, packed = (rest[:SEAL], rest[SEAL:]) if sealed else (b'', rest)
    entry = ctypes.create_string_buffer(size)
    assert ZSTD.ZSTD_decompress(entry, size, packed, len(packed)) == size
    return entry.raw, seal


def with_header(rest, size, version=1, flags=0):
    head = b'KILNWIRE' + struct.pack('<IIQ', version, flags, size)
    return head + struct.pack('<Q', XXH.XXH3_64bits_withSeed(rest, len(rest), XXH.XXH3_64bits_withSeed(head, len(head), 0))) + rest


def put_together(entry, seal, version=1):
    room = ZSTD.ZSTD_compressBound(len(entry))
    packed = ctypes.create_string_buffer(room)
    size = ZSTD.ZSTD_compress(packed, room, entry, len(entry), 1)
    return with_header(seal + packed.raw[:size], len(entry), version, 1 if seal else 0)


def mended(body):
    """An entry with a checksum that is right."""
    of_body = XXH.XXH3_128bits(body, len(body))
    return body + struct.pack('>QQ', of_body.high, of_body.low)


def flipped(data, random):
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 20))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed) if changed != data else flipped(data, random)


class Liar:
    """Knows all that trusted and other keys signed, and has no trusted key. `kinds` are its lies, by name."""

    def __init__(self, random, trusted, untrusted, revoked, unsigned):
        self.random, self.trusted, self.untrusted, self.revoked, self.unsigned = random, trusted, untrusted, revoked, unsigned
        self.kinds = [name for name in dir(self) if name.startswith('says_')]

    def parts(self, key):
        return take_apart(self.trusted[key])

    def other(self, key):
        return self.random.choice([each for each in range(len(self.trusted)) if each != key])

    def says_flipped_on_the_wire(self, key):
        return flipped(self.trusted[key], self.random)

    def says_flipped_behind_the_header(self, key):
        """zstd has bits that mean nothing: what comes out unchanged is no lie."""
        wire = self.trusted[key]
        while True:
            seal = wire[HEADER:HEADER + SEAL]
            packed = flipped(wire[HEADER + SEAL:], self.random)
            bad = with_header(seal + packed, struct.unpack_from('<Q', wire, 16)[0], flags=1)
            try:
                if take_apart(bad) == take_apart(wire):
                    continue
            except AssertionError:
                pass
            return bad

    def says_entry_flipped(self, key):
        entry, seal = self.parts(key)
        return put_together(flipped(entry, self.random), seal)

    def says_entry_flipped_and_mended(self, key):
        entry, seal = self.parts(key)
        return put_together(mended(flipped(entry[:-SUM], self.random)), seal)

    def says_payload_of_another(self, key):
        entry, seal = self.parts(key)
        size = struct.unpack_from('<Q', entry, 56)[0]
        return put_together(mended(entry[:-SUM - size] + take_apart(self.trusted[self.other(key)])[0][-SUM - size:-SUM]), seal)

    def says_seal_flipped(self, key):
        entry, seal = self.parts(key)
        return put_together(entry, flipped(seal, self.random))

    def says_seal_of_another(self, key):
        return put_together(self.parts(key)[0], self.parts(self.other(key))[1])

    def says_seal_made_up(self, key):
        seal = self.parts(key)[1]
        return put_together(self.parts(key)[0], seal[:48] + self.random.randbytes(64))

    def says_signed_at_another_time(self, key):
        seal = self.parts(key)[1]
        return put_together(self.parts(key)[0], seal[:40] + struct.pack('<Q', self.random.randrange(2**40)) + seal[48:])

    def says_trusted_signer_over_another_signature(self, key):
        ours, theirs = self.parts(key)[1], take_apart(self.untrusted[key])
        return put_together(theirs[0], ours[:40] + theirs[1][40:])

    def says_entry_of_another_key(self, key):
        return self.trusted[self.other(key)]

    def says_signed_by_nobody_trusted(self, key):
        return self.untrusted[key]

    def says_not_signed(self, key):
        return self.random.choice((self.unsigned[key], put_together(self.parts(key)[0], b'')))

    def says_old_entry_of_a_revoked_signer(self, key):
        return self.revoked[key]

    def says_another_version(self, key):
        entry, seal = self.parts(key)
        if self.random.random() < 0.5:
            return put_together(entry, seal, version=self.random.choice((0, 2, 3, 2**31)))
        return put_together(mended(entry[:8] + struct.pack('<I', self.random.choice((0, 2, 3))) + entry[12:-SUM]), seal)

    def says_cut(self, key):
        wire = self.trusted[key]
        return wire[:self.random.randrange(len(wire))]

    def says_entry_cut(self, key):
        entry, seal = self.parts(key)
        return put_together(entry[:self.random.randrange(len(entry))], seal)

    def says_more_behind_it(self, key):
        entry, seal = self.parts(key)
        return self.random.choice((lambda: self.trusted[key] + self.random.randbytes(9), lambda: put_together(entry + b'\0' * 8, seal)))()

    def says_another_size(self, key):
        return with_header(self.trusted[key][HEADER:], self.random.choice((0, 1, 2**20, 2**40, 2**63)), flags=1)

    def says_anything(self, key):
        return os.urandom(self.random.randrange(1, 5000))
