// The envelope fields of messages that a search found, page by page: what SORT and THREAD order by.

import { type EnvelopeFields, envelopeFields } from '../../mime/envelope.ts'
import { headerText } from '../../mime/headers.ts'
import { MessagePage } from '../message-content.ts'
import type { ImapSession } from '../session.ts'
import type { SearchHit } from './run.ts'

export interface HitEnvelope {
  hit: SearchHit
  fields: EnvelopeFields
  /** The References field; undefined without one. */
  references: string | undefined
}

const PAGE = 250
const NEEDS = { rows: false, labels: false, headers: true, structure: false }

/** Messages that are gone are left out. */
export async function* envelopesOf(session: ImapSession, hits: readonly SearchHit[]): AsyncGenerator<HitEnvelope> {
  for (let from = 0; from < hits.length; from += PAGE) {
    const page = hits.slice(from, from + PAGE)
    const content = new MessagePage(session, page, NEEDS, new Map())
    for (const hit of page) {
      const headers = await content.headers(hit.message)
      if (headers === undefined) continue
      yield {
        hit,
        fields: envelopeFields(headers.fields),
        references: headerText(headers.fields, 'references') ?? undefined,
      }
    }
    await new Promise((resolve) => setImmediate(resolve))
    session.assertOpen()
  }
}
