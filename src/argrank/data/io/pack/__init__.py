"""Packs: data in a folder of plain ``.npy`` files, read by memory map, so that it may be larger than memory."""
