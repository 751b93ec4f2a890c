// Fixture families without an oracle: every message is valid, and some have known properties.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ParsedMessage } from '../../src/mime/message.ts'
import { fixtureBytes, fixtureNames, fixturesMissing } from './fixtures.ts'
import { soundMail, typesOf } from './mail.ts'

/** Properties a message must be read with; the others are not compared. */
export interface MessageFacts {
  types?: string
  subject?: string
  /** "Name <email>" of the first sender. */
  from?: string
  to?: number
  sentAt?: string | null
  /** File names, those shown inline in brackets. */
  files?: string[]
  /** How the preview starts. */
  preview?: string
  /** Parts shown as text and as HTML. */
  bodies?: [text: string | null, html: string | null]
  references?: string[]
}

/** Tests a folder of messages: `known` by path inside the folder, the others for validity only. */
export function familyTests(
  folder: string,
  known: Record<string, MessageFacts>,
  isMail = (_name: string): boolean => true,
): void {
  const skip = fixturesMissing(folder)
  const names = fixtureNames(folder).filter((name) => isMail(name) && !/LICENSE|\.(?:golden|png)$/.test(name))
  test(`${folder}: every mail is sound`, { skip }, () => {
    assert.ok(names.length > 0)
    for (const name of names) soundMail(fixtureBytes(`${folder}/${name}`))
  })
  if (skip) return
  for (const [name, facts] of Object.entries(known)) {
    test(`${folder}/${name}`, { skip }, () => assertFacts(fixtureBytes(`${folder}/${name}`), facts))
  }
}

/** Parses the message and compares the named properties. */
export function assertFacts(content: Uint8Array, facts: MessageFacts): void {
  const all = describe(soundMail(content), facts.preview?.length ?? 0)
  const named = Object.fromEntries(Object.keys(facts).map((fact) => [fact, all[fact as keyof MessageFacts]]))
  assert.deepEqual(named, facts)
}

function describe(mail: ParsedMessage, previewLength: number): Required<MessageFacts> {
  const [from] = mail.from
  return {
    types: typesOf(mail.structure!),
    subject: mail.subject,
    from: from ? `${from.name} <${from.email}>`.trim() : '',
    to: mail.to.length,
    sentAt: mail.sentAt === null ? null : new Date(mail.sentAt).toISOString(),
    files: mail.attachments.map(({ filename, inline }) => (inline ? `(${filename})` : filename)),
    preview: mail.preview.slice(0, previewLength),
    bodies: [mail.textPart, mail.htmlPart],
    references: mail.references,
  }
}
