// Foreign text in one line: names and subjects in messages that Mailstead writes and signs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasLink, isMailableName, mailedName, quotedSubject } from '../../../src/mime/one-line.ts'

test('names in messages that Mailstead signs have no links, addresses, direction or unseen characters', () => {
  for (const [name, shown] of [
    ['Acme Inc.', 'Acme Inc.'],
    ["Grüße & Söhne, J. Doe's (Berlin)", "Grüße & Söhne, J. Doe's (Berlin)"],
    ['acme.com', 'acme com'],
    ['Locked! See http://evil.example/x?y=1', 'Locked! See http evil example x?y=1'],
    ['ｈｔｔｐ：／／ｅｖｉｌ．ｅｘａｍｐｌｅ', 'http evil example'],
    ['write to ceo@bank.example', 'write to ceo bank example'],
    ['a\u202egro.live\u2066b\u200bc\u3164', 'agro livebc'],
    ['"quoted" <b>', 'quoted b'],
    ['two\r\n\r\nparagraphs', 'two paragraphs'],
    ['x'.repeat(500), `${'x'.repeat(59)}…`],
    ['\u2800\u200b', ''],
  ] as const) {
    assert.equal(mailedName(name), shown)
  }
})

test('a quoted subject is bounded, and has "…" for links and addresses', () => {
  for (const [subject, shown] of [
    ['Question about invoice 12/2026', 'Question about invoice 12/2026'],
    ['Locked: see http://evil.example/x now', 'Locked: see … now'],
    ['Call ceo@bank.example or www.evil', 'Call … or …'],
    ['evil.example', '…'],
    ['192.0.2.1/login or //evil or mailto:ceo', '… or … or …'],
    ['tel:+15550100 and localhost:8080/x', '… and …'],
    ['Re:Offer 1.2.3, 10/11', 'Re:Offer 1.2.3, 10/11'],
    ['a\u202eb\u200bc', 'abc'],
    ['y'.repeat(500), `${'y'.repeat(59)}…`],
  ] as const) {
    assert.equal(quotedSubject(subject), shown)
  }
  assert.deepEqual(['demo', 'Dr. Who 2.0', 'see evil.example'].map(hasLink), [false, false, true])
})

test('a name with a URL, an address, or characters that hide something is refused where it is entered', () => {
  for (const name of [
    ...['see http://evil.example', 'www.evil.example', 'ｈｔｔｐ：／／ｅｖｉｌ', 'mailto:ceo', 'call tel:+15550100'],
    ...['ceo@bank.example', 'ceo at bank.example', 'ceo＠bank.example'],
    ...['a\u202egro.live', 'a\u2066b', 'a\u200bb', 'soft\u00adhyphen', 'blank\u3164', 'dots\u2800'],
  ])
    assert.ok(!isMailableName(name), name)
  for (const name of [
    ...['Acme Inc.', 'Booking.com', "Grüße & Söhne, J. Doe's (Berlin)", 'Meet at St. Mary', 'Data: the company'],
    ...['株式会社サンプル', 'شرکت نمونه\u200cها', 'Café ☕\ufe0f', '👩\u200d💻 Team', 'A/B testing'],
  ])
    assert.ok(isMailableName(name), name)
})
