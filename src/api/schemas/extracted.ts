// Codes and links of a message, and what is known of its sender.

import { type Static, Type } from 'typebox'
import type { Extracted } from '../../content/codes/extracted.ts'
import { LINK_KINDS } from '../../content/codes/link-words.ts'
import { Nullable, Words } from '../../http/schema.ts'
import { record } from './record.ts'

export const ExtractedJson = record(
  'Extracted',
  'A code or a link for signing in or confirming. The sender wrote it: use it only where you asked for it.',
  {
    kind: Words(['code', ...LINK_KINDS], 'A one-time code, or the act of a link. No link is fetched.'),
    value: Type.String({ description: 'The code as it is typed, or the URL.' }),
    confidence: Words(['high', 'low'], 'Wait for messages returns `high` only.'),
    ambiguous: Type.Boolean({ description: 'Another code of the message is as likely.' }),
    part: Words(['subject', 'text'], 'Where it stood.'),
    line: Type.Integer({
      minimum: 0,
      description: 'Number of its line among the own lines that have text, from 1; 0 for the subject.',
    }),
    sentence: Type.Optional(
      Type.String({ description: 'The sentence it stood in, at most 200 characters; untrusted content.' }),
    ),
    host: Nullable(Type.String({ description: 'The host a link leads to; null for codes.' })),
    host_differs: Type.Boolean({ description: 'The words of the link name another host than the one it leads to.' }),
    aligned: Type.Boolean({
      description: 'The sender is authenticated, and the host of a link is of the domain of the author.',
    }),
  },
  {
    kind: 'code',
    value: '482913',
    confidence: 'high',
    ambiguous: false,
    part: 'text',
    line: 2,
    sentence: 'Your verification code is 482913.',
    host: null,
    host_differs: false,
    aligned: true,
  },
)
export type ExtractedJson = Static<typeof ExtractedJson>

/** Facts about the author of a message. */
export interface SenderFacts {
  email: string
  domain: string
  isAuthenticated: boolean
  isFirstSeen: boolean
}

export const SenderFactsJson = record('SenderFacts', 'Facts about the author of a message.', {
  email: Type.String({ description: 'Address of the author; "" without one.' }),
  domain: Type.String({ description: 'Domain of the address.' }),
  authenticated: Type.Boolean({ description: 'SPF or DKIM passed for the domain of the author (DMARC alignment).' }),
  first_seen: Type.Boolean({ description: 'The mailbox has no earlier message of this author.' }),
})

export function presentSenderFacts({ email, domain, isAuthenticated, isFirstSeen }: SenderFacts) {
  return { email, domain, authenticated: isAuthenticated, first_seen: isFirstSeen }
}

/** @param withSentence whether the words of the sender around it are shown */
export function presentExtracted(found: Extracted, sender: SenderFacts, withSentence = true): ExtractedJson {
  const { kind, value, confidence, isAmbiguous, part, line, sentence, host, isOtherHost } = found
  const isOfAuthor = host === null || host === sender.domain || host.endsWith(`.${sender.domain}`)
  return {
    ...{ kind, value, confidence, ambiguous: isAmbiguous, part, line },
    ...(withSentence && { sentence }),
    host,
    host_differs: isOtherHost,
    aligned: sender.isAuthenticated && isOfAuthor,
  }
}
