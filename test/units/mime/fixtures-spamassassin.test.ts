// corpus/spamassassin: 250 real mails, spam and ham: all are read, with a sensible subject, sender, date and preview.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixtureBytes, fixtureNames, fixturesMissing } from '../../support/fixtures.ts'
import { soundMail } from '../../support/mail.ts'

const FOLDER = 'corpus/spamassassin'

test('every mail of the corpus', { skip: fixturesMissing(FOLDER) }, () => {
  const names = fixtureNames(FOLDER, '.txt')
  assert.ok(names.length > 200)
  for (const name of names) {
    const mail = soundMail(fixtureBytes(`${FOLDER}/${name}`))
    assert.equal(mail.problem, null, name)
    assert.match(mail.from[0]?.email ?? '', /^[^\s@<>]+@[^\s@<>]+$/, name)
    assert.ok(mail.sentAt !== null && mail.sentAt > Date.UTC(1998) && mail.sentAt < Date.UTC(2011), name)
    assert.notEqual(mail.preview, '', name)
    assert.doesNotMatch(mail.subject + mail.from[0]!.name, /\ufffd|=\?[\w-]+\?[bq]\?/i, name)
  }
})
