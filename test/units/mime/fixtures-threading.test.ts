// threading/: real conversations: ids are found, and replies share the key of their parents' subjects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ParsedMessage } from '../../../src/mime/message.ts'
import { normaliseSubject } from '../../../src/mime/references.ts'
import { fixtureBytes, fixtureNames, fixturesMissing } from '../../support/fixtures.ts'
import { soundMail } from '../../support/mail.ts'

const FOLDER = 'threading'
const skip = fixturesMissing(FOLDER)

/** Subjects that people changed, so that parent and reply do not agree. */
const CHANGED = ['bug? logformat "%{tid}p" gives wrong tid on windows server 200']

function mails(): ParsedMessage[] {
  return fixtureNames(FOLDER).flatMap((name) => {
    const text = fixtureBytes(`${FOLDER}/${name}`).toString('latin1')
    const single = name.endsWith('.eml') ? [text] : text.split(/^(?=From .*\d{4}\r?$)/m)
    return single.map((mail) => soundMail(Buffer.from(mail, 'latin1')))
  })
}

test('ids and subjects of real conversations', { skip }, () => {
  const all = mails()
  const byId = new Map(all.filter((mail) => mail.messageId !== null).map((mail) => [mail.messageId!, mail]))
  assert.ok(all.length > 180 && byId.size > 180)
  let replies = 0
  for (const mail of all) {
    for (const id of [...mail.inReplyTo, ...mail.references]) assert.match(id, /^[^\s<>]+@[^\s<>]+$/)
    const parent = [...mail.inReplyTo, ...mail.references.toReversed()].map((id) => byId.get(id)).find((found) => found)
    const { key } = normaliseSubject(mail.subject)
    if (!parent || parent === mail || CHANGED.includes(key)) continue
    replies++
    assert.equal(key, normaliseSubject(parent.subject).key)
  }
  assert.ok(replies > 60)
})
