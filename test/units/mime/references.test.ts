// Message-IDs of a header field, and the subject a conversation shares.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageIds, normaliseSubject, REFERENCES_MAX } from '../../../src/mime/references.ts'

test('ids lose their brackets, folding and repetition', () => {
  const cases: [string, string[]][] = [
    ['<a@b>', ['a@b']],
    ['<a@b> <c@d>\t<a@b>', ['a@b', 'c@d']],
    ['<a@b><c@d>, <e@f>', ['a@b', 'c@d', 'e@f']],
    ['<a@ b>', ['a@b']],
    ['Your mail of "Mon" <a@b> (x <y@z>)', ['a@b', 'y@z']],
    ['a@b c@d', ['a@b', 'c@d']],
    ['your mail from a@b', []],
    ['<> < >', []],
    ['<no end', []],
    [`<${'x'.repeat(999)}@b> <a@b>`, ['a@b']],
    ['', []],
  ]
  for (const [given, expected] of cases) assert.deepEqual(messageIds(given), expected, given)
})

test('of many references the root and the nearest ones count', () => {
  const all = Array.from({ length: 500 }, (_, at) => `${at}@x`)
  const found = messageIds(all.map((id) => `<${id}>`).join(' '))
  assert.equal(found.length, REFERENCES_MAX)
  assert.deepEqual([found[0], found[1], found.at(-1)], ['0@x', '401@x', '499@x'])
  assert.deepEqual(messageIds('<a@b> <c@d> <e@f>', 2), ['a@b', 'e@f'])
})

test('replies, forwards, list names and white space leave the same key', () => {
  const same = [
    ...[
      'Budget 2025',
      'Re: Budget 2025',
      'RE:RE: budget  2025',
      're : Re[2]: Budget 2025',
      'Re^3: Budget 2025',
      'AW: Budget 2025',
    ],
    ...[
      'Fwd: Re: Budget 2025',
      'WG: AW: Budget 2025',
      'SV: VS: Odp: Budget 2025',
      '[team] Budget 2025',
      'Re: [team] Re: Budget 2025',
    ],
    ...[
      '[Fwd: Budget 2025]',
      '[Fwd: [Fwd: FW: Budget 2025]]',
      'Budget 2025 (fwd)',
      'Budget 2025 (fwd) (FWD) ',
      '回复：Budget 2025',
    ],
    ...['答复: 转发: Budget 2025', 'Отв: Budget 2025', ' Re: Budget\t2025 ', 'Re(2): Budget 2025'],
  ]
  for (const subject of same) assert.equal(normaliseSubject(subject).key, 'budget 2025', subject)
})

test('only a reply mark makes a reply', () => {
  for (const subject of ['Re: x', 'AW: x', 'Fwd: Re: x', '回复：x', '[list] Re: x']) {
    assert.equal(normaliseSubject(subject).isReply, true, subject)
  }
  for (const subject of ['x', 'Fwd: x', 'Reply: x', 'Regarding: x', 'Re x', 'Ref: 12', '[Re] x', '']) {
    assert.equal(normaliseSubject(subject).isReply, false, subject)
  }
})

test('what is nothing but marks', () => {
  assert.deepEqual(normaliseSubject('Re:'), { key: '', isReply: true })
  assert.deepEqual(normaliseSubject('[tag]'), { key: '[tag]', isReply: false })
  assert.deepEqual(normaliseSubject('(fwd)'), { key: '(fwd)', isReply: false })
})
