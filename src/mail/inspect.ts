// One pass over an arriving mail: judged, marked, read, hashed and cut into what is stored.

import { createHash } from 'node:crypto'
import { constants, zstdCompressSync } from 'node:zlib'
import type { Resolver } from '../base/resolver.ts'
import { authenticate } from './authenticate.ts'
import { parseDate } from './date.ts'
import { headerText, readHeaders } from './headers.ts'
import type { Arrival, AuthVerdict, Chunk, Inspection, OwnMail, ParsedMail, Reading } from './mail.ts'
import { parseMail } from './parse.ts'
import { readReport } from './report/report.ts'
import { rule } from './sieve/rule.ts'
import { addOwnTrace, addTrace } from './trace.ts'
import { mailTraits } from './traits.ts'

/** Content of one stored chunk at most, in bytes. */
export const CHUNK_BYTES = 1024 * 1024
/** Measured: below, some 35 µs save less than a page of the database; from here on a page at least, soon two thirds. */
const COMPRESS_FROM_BYTES = 8192
/** A compressed chunk is kept when it has at most this share of its content's size. */
const WORTH = 0.9

const OWN = 'Sent from this appliance by somebody who may use the From address.'

const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Never throws for what a mail holds: a mail that cannot be read is kept raw and says so. */
export async function inspect(bytes: Uint8Array, arrival: Arrival, resolver: Resolver): Promise<Inspection> {
  const { verdict, resultsHeader } = await authenticate(bytes, arrival, resolver)
  const stored = addTrace(bytes, arrival, resultsHeader)
  const report = arrival.isForReports ? readReport(stored, arrival.mailFrom) : null
  return { verdict, report, ...taken(bytes, stored, arrival) }
}

/** The same for a mail that was sent from here: whose it is was settled when it was accepted, so that DNS is asked nothing. */
export function inspectOwn(bytes: Uint8Array, own: OwnMail): Inspection {
  const inspection = taken(bytes, addOwnTrace(bytes, own), own)
  return { verdict: ownVerdict(inspection.mail), report: null, ...inspection }
}

/** The same for a mail that is kept as it is, to the byte. Never throws for what it holds. */
export function readMail(bytes: Uint8Array): Reading {
  const { fields } = readHeaders(bytes)
  // RFC 5321 4.4: each host puts its field on top, and the time at its end.
  const received = headerText(fields, 'received')
  return {
    isMail: fields.length > 0,
    mail: parseMail(bytes),
    arrivedAt: received === null ? null : parseDate(received.slice(received.lastIndexOf(';') + 1)),
    hash: sha256(bytes),
    sizeBytes: bytes.length,
    chunks: chunksOf(bytes),
  }
}

function taken(
  bytes: Uint8Array,
  stored: Uint8Array,
  { receivedAt, scripts, mailFrom }: Arrival | OwnMail,
): Omit<Inspection, 'verdict' | 'report'> {
  // Read as it is stored, so that offsets fit.
  const mail = parseMail(stored)
  return {
    mail,
    traits: mailTraits(stored, mail, receivedAt),
    hash: sha256(stored),
    sizeBytes: stored.length,
    chunks: chunksOf(stored),
    arrivedHash: sha256(bytes),
    rulings: rule(scripts, { bytes: stored, root: mail.structure, text: mail.searchText }, mailFrom),
  }
}

/** Nothing was checked, because nothing had to be: no result of SPF, DKIM or DMARC is made up. */
function ownVerdict({ from }: ParsedMail): AuthVerdict {
  const domain = from.length === 1 ? from[0]!.email.slice(from[0]!.email.lastIndexOf('@') + 1).toLowerCase() : ''
  return {
    spf: 'none',
    spfDomain: '',
    spfReason: OWN,
    dkim: 'none',
    signatures: [],
    dmarc: 'none',
    dmarcPolicy: '',
    dmarcReason: '',
    arc: 'none',
    arcDomain: '',
    fromDomain: domain,
    fromAligned: domain !== '',
    dns: [],
  }
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest()
}

/** The mail in stretches of CHUNK_BYTES, each compressed where that pays. */
export function chunksOf(bytes: Uint8Array): Chunk[] {
  const chunks: Chunk[] = []
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    const content = bytes.subarray(start, start + CHUNK_BYTES)
    const packed = content.length < COMPRESS_FROM_BYTES ? content : zstdCompressSync(content, ZSTD)
    const zstd = packed.length <= content.length * WORTH
    // What the library gives lies in memory it shares with others: a copy can be handed to another thread.
    chunks.push({ start, sizeBytes: content.length, zstd, data: zstd ? new Uint8Array(packed) : content })
  }
  return chunks
}
