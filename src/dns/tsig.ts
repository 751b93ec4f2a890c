// Signs messages to name servers with a shared key, and checks their answers (TSIG, RFC 8945).

import { createHmac, timingSafeEqual } from 'node:crypto'
import { CLASSES, endOfName, lastRecord, nameBytes, recordBytes, uint16, WIRE_TYPES } from './wire.ts'

const HASHES = { 'hmac-sha256': 'sha256', 'hmac-sha384': 'sha384', 'hmac-sha512': 'sha512' } as const
export type TsigAlgorithm = keyof typeof HASHES

export interface TsigKey {
  name: string
  algorithm: TsigAlgorithm
  secret: Buffer
}

export interface SignedMessage {
  bytes: Buffer
  mac: Buffer
}

/** Seconds by which the clocks may differ (RFC 8945 §10). */
const FUDGE_SECONDS = 300
const ADDITIONAL_COUNT_AT = 10
const ERRORS: ReadonlyMap<number, string> = new Map([
  [16, 'the signature is wrong (BADSIG)'],
  [17, 'it does not know the key (BADKEY)'],
  [18, 'the clocks differ by more than five minutes (BADTIME)'],
  [22, 'the signature is too short (BADTRUNC)'],
])

/** @param text a `key` statement of BIND, Knot's `keymgr -t`, or `algorithm:name:secret` as `knsupdate` takes it @throws Error without the text */
export function readTsigKey(text: string): TsigKey {
  const line = /^\s*(?:#.*\n\s*)*(hmac-[\w-]+):([^\s:]+):([A-Za-z0-9+/=]+)\s*$/.exec(text)
  const name = line?.[2] ?? /(?:\bkey\s+|\bid:\s*)"?([^\s"{;]+)/.exec(text)?.[1]
  const algorithm = line?.[1] ?? /\balgorithm:?\s+"?([\w-]+)/.exec(text)?.[1]
  const secret = line?.[3] ?? /\bsecret:?\s+"?([A-Za-z0-9+/=]+)/.exec(text)?.[1]
  const known = Object.keys(HASHES).find((each) => each === algorithm?.toLowerCase())
  if (name === undefined || known === undefined || secret === undefined) {
    throw new Error(`This is no TSIG key with ${Object.keys(HASHES).join(', ')}.`)
  }
  return { name, algorithm: known as TsigAlgorithm, secret: Buffer.from(secret, 'base64') }
}

/** @param message without a signature @param now ms */
export function signMessage(message: Buffer, key: TsigKey, now: number): SignedMessage {
  const seconds = Math.floor(now / 1000)
  const mac = macOf(key, [message], { seconds, fudge: FUDGE_SECONDS, error: 0, other: Buffer.alloc(0) })
  const data = Buffer.concat([
    ...[nameBytes(key.algorithm), uint48(seconds), uint16(FUDGE_SECONDS, mac.length), mac],
    ...[message.subarray(0, 2), uint16(0, 0)],
  ])
  const bytes = Buffer.concat([message, recordBytes({ name: key.name, type: 'TSIG', class: 'ANY', ttl: 0, data })])
  bytes.writeUInt16BE(message.readUInt16BE(ADDITIONAL_COUNT_AT) + 1, ADDITIONAL_COUNT_AT)
  return { bytes, mac }
}

/** Whether an answer is from the holder of the key (RFC 8945 §5.3, §5.4). @param now ms @throws Error that says why not */
export function checkAnswer(answer: Buffer, key: TsigKey, request: SignedMessage, now: number): void {
  const unsignedAnswer = () => new Error('The name server did not sign its answer.')
  if (answer.readUInt16BE(ADDITIONAL_COUNT_AT) === 0) throw unsignedAnswer()
  const { start, dataStart } = lastRecord(answer)
  const nameEnd = endOfName(answer, start)
  if (answer.readUInt16BE(nameEnd) !== WIRE_TYPES.TSIG) throw unsignedAnswer()
  const at = endOfName(answer, dataStart)
  const [seconds, fudge] = [answer.readUIntBE(at, 6), answer.readUInt16BE(at + 6)]
  const macEnd = at + 10 + answer.readUInt16BE(at + 8)
  const [error, otherLength] = [answer.readUInt16BE(macEnd + 2), answer.readUInt16BE(macEnd + 4)]
  if (error !== 0) throw new Error(`The name server refuses the key: ${ERRORS.get(error) ?? `error ${error}`}.`)
  const isNamed = answer.subarray(start, nameEnd).equals(nameBytes(key.name))
  const isSame = answer.subarray(dataStart, at).equals(nameBytes(key.algorithm))
  const unsigned = Buffer.from(answer.subarray(0, start))
  unsigned.writeUInt16BE(answer.readUInt16BE(ADDITIONAL_COUNT_AT) - 1, ADDITIONAL_COUNT_AT)
  // The original id, which a forwarder may have replaced.
  answer.copy(unsigned, 0, macEnd, macEnd + 2)
  const other = answer.subarray(macEnd + 6, macEnd + 6 + otherLength)
  const expected = macOf(key, [uint16(request.mac.length), request.mac, unsigned], { seconds, fudge, error, other })
  const mac = answer.subarray(at + 10, macEnd)
  if (!isNamed || !isSame || mac.length !== expected.length || !timingSafeEqual(mac, expected)) {
    throw new Error('The answer is not signed with the key.')
  }
  if (Math.abs(now / 1000 - seconds) > FUDGE_SECONDS) throw new Error('The answer was signed at another time.')
}

interface Signed {
  seconds: number
  fudge: number
  error: number
  other: Buffer
}

/** Over the message and the variables of RFC 8945 §4.3.3. */
function macOf(
  { name, algorithm, secret }: TsigKey,
  parts: readonly Buffer[],
  { seconds, fudge, error, other }: Signed,
): Buffer {
  const hmac = createHmac(HASHES[algorithm], secret)
  for (const part of parts) hmac.update(part)
  const ttl = Buffer.alloc(4)
  hmac.update(Buffer.concat([nameBytes(name), uint16(CLASSES.ANY), ttl, nameBytes(algorithm), uint48(seconds)]))
  return hmac.update(Buffer.concat([uint16(fudge, error, other.length), other])).digest()
}

function uint48(value: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUIntBE(value, 0, 6)
  return bytes
}
