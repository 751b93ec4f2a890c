// Reads aggregate reports of DMARC (RFC 7489 appendix C, RFC 9990) in XML, record by record within bounds: they come from anyone.

import { isIP } from 'node:net'
import type { XMLParser } from 'fast-xml-parser'

/** Bytes of a report; records of it; bytes of one record, and of what precedes the first. */
export const XML_MAX = 50 * 1024 * 1024
export const RECORDS_MAX = 100_000
const RECORD_MAX = 64 * 1024
const TEXT_MAX = 255
/** Messages that one report counts: sums of many reports stay exact numbers. */
const MESSAGES_MAX = 1_000_000_000
/** A report covers at most this long. s */
const SPAN_MAX = 8 * 86_400

export type DmarcResult = 'pass' | 'fail'
export type Disposition = 'none' | 'quarantine' | 'reject'

export interface AggregateHead {
  organization: string
  reportId: string
  /** The domain that is reported about, lower case. */
  domain: string
  /** The policy that the reporter saw. */
  policy: Disposition
  /** ms */
  beginAt: number
  endAt: number
}

export interface AggregateRow {
  sourceIp: string
  count: number
  /** Aligned DKIM and SPF; DMARC passes with one of them. */
  dkim: DmarcResult
  spf: DmarcResult
  disposition: Disposition
}

type Tree = Readonly<Record<string, unknown>>

const PARSER = { ignoreAttributes: true, parseTagValue: false, processEntities: false, removeNSPrefix: true } as const
const START = Buffer.from('<record>')
const END = Buffer.from('</record>')

/**
 * Reads a report. The rows are read while they are asked for, so that the caller can give way between them.
 * @throws Error that says in one sentence what is wrong, here and while the rows are read
 */
export async function readAggregate(
  xml: Buffer,
): Promise<{ head: AggregateHead; rows: Generator<AggregateRow, void, undefined> }> {
  const { XMLParser } = await import('fast-xml-parser')
  const parser = new XMLParser(PARSER)
  const first = xml.indexOf(START)
  const before = xml.subarray(0, first < 0 ? xml.length : first)
  if (before.length > RECORD_MAX) throw new Error('The report has no records.')
  // Entities and external documents (XXE, expansion) come with a document type; no reporter needs one.
  if (/<!DOCTYPE|<!ENTITY/i.test(before.toString('latin1'))) throw new Error('The report has a document type.')
  if (countRecords(xml) > RECORDS_MAX) throw new Error(`The report has more than ${RECORDS_MAX} records.`)
  return { head: readHead(parser, before.toString('utf8')), rows: readRows(parser, xml, first) }
}

function countRecords(xml: Buffer): number {
  let count = 0
  for (let at = xml.indexOf(START); at >= 0 && count <= RECORDS_MAX; at = xml.indexOf(START, at + 1)) count++
  return count
}

function readHead(parser: XMLParser, text: string): AggregateHead {
  const closed = text.includes('</feedback>') ? text : `${text}</feedback>`
  const feedback = tree(parsed(parser, closed).feedback)
  const metadata = tree(feedback.report_metadata)
  const range = tree(metadata.date_range)
  const published = tree(feedback.policy_published)
  const [begin, end] = [Number(word(range.begin)), Number(word(range.end))]
  const domain = word(published.domain).toLowerCase().replace(/\.$/, '')
  const reportId = word(metadata.report_id)
  if (domain === '' || reportId === '') throw new Error('The report names no domain or has no id.')
  if (!(begin > 0 && end >= begin && end - begin <= SPAN_MAX)) throw new Error('The report has no valid date range.')
  return {
    ...{ organization: word(metadata.org_name), reportId, domain, policy: dispositionOf(word(published.p)) },
    ...{ beginAt: begin * 1000, endAt: end * 1000 },
  }
}

function* readRows(parser: XMLParser, xml: Buffer, first: number): Generator<AggregateRow, void, undefined> {
  let total = 0
  for (let at = first; at >= 0; ) {
    const end = xml.indexOf(END, at)
    if (end < 0 || end - at > RECORD_MAX) throw new Error('A record of the report does not end.')
    const text = xml.subarray(at, end + END.length).toString('utf8')
    const row = tree(tree(parsed(parser, text).record).row)
    const evaluated = tree(row.policy_evaluated)
    const sourceIp = word(row.source_ip)
    const messages = Number(word(row.count))
    if (isIP(sourceIp) === 0 || !Number.isSafeInteger(messages) || messages < 0) {
      throw new Error('A record of the report has no valid source or count.')
    }
    total += messages
    if (total > MESSAGES_MAX) throw new Error('The report counts too many messages.')
    yield {
      ...{ sourceIp, count: messages, dkim: resultOf(evaluated.dkim), spf: resultOf(evaluated.spf) },
      disposition: dispositionOf(word(evaluated.disposition)),
    }
    at = xml.indexOf(START, end)
  }
}

function parsed(parser: XMLParser, text: string): Tree {
  try {
    return tree(parser.parse(text) as unknown)
  } catch (cause) {
    throw new Error('The report is no valid XML.', { cause })
  }
}

function tree(value: unknown): Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Tree) : {}
}

function word(value: unknown): string {
  return (typeof value === 'string' ? value : '').trim().slice(0, TEXT_MAX)
}

function resultOf(value: unknown): DmarcResult {
  return word(value).toLowerCase() === 'pass' ? 'pass' : 'fail'
}

/** RFC 9990 says `pass` where nothing was done. */
function dispositionOf(text: string): Disposition {
  const lower = text.toLowerCase()
  return lower === 'quarantine' || lower === 'reject' ? lower : 'none'
}
