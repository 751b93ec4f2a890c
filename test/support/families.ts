// Fixture families without an oracle: every message is valid, and some have known properties.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ParsedMessage } from '../../src/mime/message.ts'
import { fixtureBytes, fixtureNames, fixturesMissing } from './fixtures.ts'
import { soundMail, typesOf } from './mail.ts'

/** Known properties of a message; others are not compared. */
export interface Known {
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
  known: Record<string, Known>,
  isMail = (_name: string): boolean => true,
): void {
  const skip = fixturesMissing(folder)
  const names = fixtureNames(folder).filter((name) => isMail(name) && !/LICENSE|\.(?:golden|png)$/.test(name))
  test(`${folder}: every mail is sound`, { skip }, () => {
    assert.ok(names.length > 0)
    for (const name of names) soundMail(fixtureBytes(`${folder}/${name}`))
  })
  for (const [name, facts] of Object.entries(known)) {
    test(`${folder}/${name}`, { skip }, () => {
      const mail = soundMail(fixtureBytes(`${folder}/${name}`))
      const found = describe(mail, facts.preview?.length ?? 0)
      const asked = Object.fromEntries(Object.keys(facts).map((fact) => [fact, found[fact as keyof Known]]))
      assert.deepEqual(asked, facts)
    })
  }
}

function describe(mail: ParsedMessage, previewLength: number): Required<Known> {
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
