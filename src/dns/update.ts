// Changes records of a zone by DNS UPDATE (RFC 2136) over TCP, signed with a shared key.

import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import type { Clock } from '../base/clock.ts'
import type { NameServer } from '../base/dns-exchange.ts'
import { checkAnswer, signMessage, type TsigKey } from './tsig.ts'
import { CLASSES, dataOf, nameBytes, recordBytes, uint16, WIRE_TYPES, type WireRecord, type WireType } from './wire.ts'
import type { ZoneView } from './zone-view.ts'

/** All records of one name and type, before and after. */
export interface RecordSetChange {
  name: string
  type: WireType
  /** Values that the name server has now: it changes nothing when it has others by then (RFC 2136 §2.4). */
  current: readonly string[]
  adds: readonly string[]
  /** Of the current values. */
  removes: readonly string[]
}

interface UpdateOptions {
  server: NameServer
  /** Has read the current values. */
  view: Pick<ZoneView, 'dataOf'>
  zone: string
  key: TsigKey
  clock: Clock
  /** Seconds. */
  ttl: number
}

const TIMEOUT_MS = 15_000
const OPCODE_UPDATE = 5
const HEADER_BYTES = 12
const REASONS: ReadonlyMap<number, string> = new Map([
  [1, 'it does not understand the request (FORMERR)'],
  [2, 'it failed (SERVFAIL)'],
  [4, 'it takes no updates (NOTIMP)'],
  [5, 'the key may not change these records (REFUSED)'],
  [6, 'the zone was changed in between (YXDOMAIN)'],
  [7, 'the zone was changed in between (YXRRSET)'],
  [8, 'the zone was changed in between (NXRRSET)'],
  [9, 'it does not serve the zone, or does not know the key (NOTAUTH)'],
  [10, 'a name is not in the zone (NOTZONE)'],
])

/** All changes, or none. @throws Error with a sentence that says why nothing was changed */
export async function updateZone(changes: readonly RecordSetChange[], options: UpdateOptions): Promise<void> {
  const { key, clock, server } = options
  const request = signMessage(updateMessage(changes, options), key, clock.now())
  const answer = await overTcp(request.bytes, server, clock)
  if (answer.length < HEADER_BYTES || answer.readUInt16BE(0) !== request.bytes.readUInt16BE(0)) {
    throw new Error('The name server answered something else.')
  }
  const code = answer.readUInt16BE(2) & 15
  const isSigned = answer.readUInt16BE(10) > 0
  // A server that does not know the key cannot sign; a refusal changes nothing, even a forged one.
  if (code === 0 || isSigned) checkAnswer(answer, key, request, clock.now())
  if (code !== 0) throw new Error(`The name server changed nothing: ${REASONS.get(code) ?? `error ${code}`}.`)
}

function updateMessage(
  changes: readonly RecordSetChange[],
  { zone, ttl, view }: Pick<UpdateOptions, 'zone' | 'ttl' | 'view'>,
): Buffer {
  const conditions = changes.flatMap((change) => conditionsOf(change, view))
  const updates = changes.flatMap(({ name, type, adds, removes }) => [
    ...removes.map(
      (value): WireRecord => ({ name, type, class: 'NONE', ttl: 0, data: view.dataOf(name, type, value) }),
    ),
    ...adds.map((value): WireRecord => ({ name, type, class: 'IN', ttl, data: dataOf(type, value) })),
  ])
  return Buffer.concat([
    uint16(randomInt(0x10000), OPCODE_UPDATE << 11, 1, conditions.length, updates.length, 0),
    ...[nameBytes(zone), uint16(WIRE_TYPES.SOA, CLASSES.IN)],
    ...[...conditions, ...updates].map(recordBytes),
  ])
}

/** Records of the name and type are exactly the current ones, or there are none (RFC 2136 §2.4.2, §2.4.3). */
function conditionsOf({ name, type, current }: RecordSetChange, view: Pick<ZoneView, 'dataOf'>): WireRecord[] {
  if (current.length === 0) return [{ name, type, class: 'NONE', ttl: 0, data: Buffer.alloc(0) }]
  return current.map((value) => ({ name, type, class: 'IN', ttl: 0, data: view.dataOf(name, type, value) }))
}

/** The answer, without its length. @throws Error */
function overTcp(message: Buffer, { address, port }: NameServer, clock: Clock): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const socket = connect(port, address)
  const timer = clock.after(TIMEOUT_MS, () => socket.destroy(new Error('The name server did not answer in time.')))
  const parts: Buffer[] = []
  socket.on('connect', () => socket.write(Buffer.concat([uint16(message.length), message])))
  socket.on('data', (part: Buffer) => {
    parts.push(part)
    const all = Buffer.concat(parts)
    if (all.length >= 2 && all.length >= 2 + all.readUInt16BE(0)) resolve(all.subarray(2, 2 + all.readUInt16BE(0)))
  })
  socket.on('error', reject)
  socket.on('close', () => reject(new Error('The name server ended the connection without an answer.')))
  return promise.finally(() => {
    timer.cancel()
    socket.destroy()
  })
}
