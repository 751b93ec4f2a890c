// Search strings in header fields, and the days Date fields name.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressesContain, fieldContains, matchesSentDay, sentDay } from '../../../../src/imap/search/message-text.ts'
import { foldedText } from '../../../../src/mime/header-keys.ts'

test('strings are found in the decoded text, whatever their case; accents count', () => {
  const found = (value: string, text: string) => fieldContains(value, foldedText(text))
  assert.ok(found('=?utf-8?Q?Gr=C3=BC=C3=9Fe?= aus Wien', 'GRÜSSE AUS'.replace('SS', 'ß')))
  assert.ok(found('Gru\u0308n', 'grün'))
  assert.ok(!found('=?utf-8?Q?Gr=C3=BCn?=', 'grun'))
  assert.ok(found('anything', ''))
})

test('addresses are found as written and as programs show them', () => {
  const found = (text: string) =>
    addressesContain('=?utf-8?B?w4Rubg==?= <ann@a.test>, "list, of": (x) b . c @ d.test;', foldedText(text))
  for (const text of ['Änn', 'ann@a', 'änn <ann@a.test>', 'list, of', 'b.c@d.test', 'ANN@A.TEST'])
    assert.ok(found(text), text)
  for (const text of ['ann@d', 'w4Rubg']) assert.ok(!found(text), text)
})

test('SENT* goes by the day that is written, not by the moment in UTC', () => {
  const day = Date.UTC(2024, 0, 1)
  const late = 'Mon, 1 Jan 2024 23:30:00 -0800'
  const early = 'Mon, 1 Jan 2024 00:30:00 +0900'
  assert.equal(sentDay(late), day)
  assert.equal(sentDay(early), day)
  assert.equal(sentDay('Wed, 31 Dec 1969 12:00:00 +0000'), -86_400_000)
  for (const date of [late, early]) {
    assert.deepEqual(
      (['before', 'on', 'since'] as const).map((relation) => matchesSentDay(date, relation, day)),
      [false, true, true],
    )
  }
  assert.ok(matchesSentDay(late, 'before', day + 86_400_000))
  assert.ok(!matchesSentDay(late, 'since', day + 86_400_000))
  for (const date of ['', 'yesterday', undefined]) assert.ok(!matchesSentDay(date, 'since', 0))
})
