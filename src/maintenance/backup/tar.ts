// The archive of a backup: plain ustar, written and read as its bytes go by; sizes above 8 GiB in the binary form GNU tar and bsdtar read.

const BLOCK = 512
const OCTAL_MAX = 8 ** 11
const MODE = 0o600

/** A regular file in an archive. */
export interface Member {
  path: string
  sizeBytes: number
}

/** Its content must be read to the end before the next member is asked for. */
export interface ReadMember extends Member {
  content: AsyncGenerator<Buffer>
}

/** What the archive holds is none of ours, or not whole. */
export class TarError extends Error {}

/** The block before the content of a member. @param modified when it was last changed, ms */
export function headerOf({ path, sizeBytes }: Member, modified: number): Buffer {
  const block = Buffer.alloc(BLOCK)
  block.write(path, 0, 100, 'latin1')
  block.write(octal(MODE, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  if (sizeBytes < OCTAL_MAX) block.write(octal(sizeBytes, 11), 124)
  else {
    block[124] = 0x80
    block.writeBigUInt64BE(BigInt(sizeBytes), 128)
  }
  block.write(octal(Math.floor(modified / 1000), 11), 136)
  block.write('0', 156)
  block.write('ustar\0' + '00', 257)
  block.write(`${octal(sumOf(block), 6)}\0 `, 148)
  return block
}

/** The zeros that fill the last block of a content. */
export function paddingOf(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK - (sizeBytes % BLOCK)) % BLOCK)
}

/** What an archive ends with. */
export const END = Buffer.alloc(2 * BLOCK)

/**
 * The members of an archive, in order.
 * @throws TarError at a member that is no regular file, a header that is none, an end before the end
 */
export async function* readTar(bytes: AsyncIterable<Buffer>): AsyncGenerator<ReadMember> {
  const source = new Source(bytes)
  for (;;) {
    const block = await source.take(BLOCK)
    if (block.every((byte) => byte === 0)) return
    if (Number.parseInt(block.toString('latin1', 148, 154), 8) !== sumOf(block)) throw new TarError('no header')
    // Links, devices, folders, names beyond the header: nothing of that kind is ever written.
    if (block[156] !== 0x30) throw new TarError('no regular file')
    const name = block.toString('latin1', 0, 100)
    const member = { path: name.slice(0, `${name}\0`.indexOf('\0')), sizeBytes: sizeIn(block) }
    const content = source.pieces(member.sizeBytes)
    yield { ...member, content }
    for await (const _ of content);
    await source.take(paddingOf(member.sizeBytes).length)
  }
}

/** Bytes that are taken in stretches of a given length. */
class Source {
  readonly #bytes: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#bytes = bytes[Symbol.asyncIterator]()
  }

  async take(length: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const piece of this.pieces(length)) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  async *pieces(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0; ) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#bytes.next()
        if (done) throw new TarError('cut short')
        this.#rest = value
      }
      const piece = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }
}

function sizeIn(block: Buffer): number {
  const size =
    block[124] === 0x80 ? Number(block.readBigUInt64BE(128)) : Number.parseInt(block.toString('latin1', 124, 135), 8)
  if (!Number.isSafeInteger(size) || size < 0) throw new TarError('no size')
  return size
}

/** The field of the sum itself counts as spaces. */
function sumOf(block: Buffer): number {
  let sum = 0
  for (let at = 0; at < BLOCK; at++) sum += at >= 148 && at < 156 ? 0x20 : block[at]!
  return sum
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}
