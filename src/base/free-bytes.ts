// Frees the memory of large buffers at once: V8 frees what is outside its heap only when it collects garbage, which may be long after.

/** Smaller buffers are left to the garbage collector: that costs less than detaching them. */
const LARGE_BYTES = 256 * 1024

/**
 * Frees the memory under large arrays that nothing reads any more. They, and all other arrays over the same memory, are empty afterwards.
 * @param except arrays that are still used: memory they share is kept
 */
export function freeBytes(arrays: Iterable<Uint8Array>, except: Iterable<Uint8Array> = []): void {
  const used = new Set([...except].map(({ buffer }) => buffer))
  for (const { buffer } of arrays) {
    if (!(buffer instanceof ArrayBuffer) || buffer.byteLength < LARGE_BYTES || used.has(buffer)) continue
    // Detaches the buffer and frees its memory; the new one has none.
    buffer.transfer(0)
  }
}
