"""Compressed bodies that are small on the wire and a gigabyte when they are opened."""

from __future__ import annotations

import gzip
import struct
import zlib
from functools import cache

MEGABYTE = 1 << 20
MEGABYTES = 1024
CHECKSUM = 0x5B64C2B0
"""The CRC-32 of so many zeros."""


@cache
def gzip_bomb() -> bytes:
    """A gigabyte of zeros as sound gzip: after a full flush, a block does not know its past."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    end = packer.flush() + struct.pack("<II", CHECKSUM, MEGABYTE * MEGABYTES)
    return gzip.compress(b"", mtime=0)[:10] + block * MEGABYTES + end


@cache
def nested_bomb() -> bytes:
    """The bomb in gzip once more: a few kilobytes."""
    return gzip.compress(gzip_bomb(), mtime=0)


@cache
def brotli_bomb() -> bytes | None:
    """A gigabyte of zeros as brotli, where the library is there."""
    try:
        import brotli
    except ImportError:
        return None
    packer = brotli.Compressor(quality=1)
    zeros = bytes(MEGABYTE)
    return b"".join(packer.process(zeros) for _ in range(MEGABYTES)) + packer.finish()
