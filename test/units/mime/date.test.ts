// Date fields and the moments they name.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDate } from '../../../src/mime/date.ts'

test('the forms mailers write', () => {
  const cases: [string, string][] = [
    ['Tue, 1 Jul 2003 10:52:37 +0200', '2003-07-01T08:52:37.000Z'],
    ['1 Jul 03 10:52 GMT', '2003-07-01T10:52:00.000Z'],
    ['Fri, 21 Nov 1997 09(comment):   55  :  06 -0600', '1997-11-21T15:55:06.000Z'],
    ['Thu, 13 Feb 1969 23:32 -0330 (Newfoundland Time)', '1969-02-14T03:02:00.000Z'],
    ['Sunday, 27-October-02 23:57:07 EST', '2002-10-28T04:57:07.000Z'],
    ['Mon, 21 Aug 95 13:30:57 -600', '1995-08-21T19:30:57.000Z'],
    ['Sun, 25 Aug 0102 03:37:45 +1100', '2002-08-24T16:37:45.000Z'],
    ['Tue Jul  1 10:52:37 2003', '2003-07-01T10:52:37.000Z'],
    ['Tue Jul  1 10:52:37 CEST 2003', '2003-07-01T08:52:37.000Z'],
    ['2003-07-01T10:52:37+02:00', '2003-07-01T08:52:37.000Z'],
    ['2003-07-01 10:52:37.123Z', '2003-07-01T10:52:37.000Z'],
    ['Tue, 1 Jul 2003 1:52:37 PM GMT+2', '2003-07-01T11:52:37.000Z'],
    ['Fri, May 09 2017 10:52:37 +0200', '2017-05-09T08:52:37.000Z'],
    ['Thursday, April 09, 2003 9:00 AM', '2003-04-09T09:00:00.000Z'],
    ['April 9th, 2003 at 12:30 PM EST', '2003-04-09T17:30:00.000Z'],
    ['Tue, 1 (a (b (c)) d) Jul 2003 10:52:37 (e\\)(f)) +0200 (g)', '2003-07-01T08:52:37.000Z'],
    ['Tue (a day), 1 Jul 2003 10:52:37 +0200', '2003-07-01T08:52:37.000Z'],
    ['(a(b)c) Tue, 1 Jul 2003 10:52:37 +0200', '2003-07-01T08:52:37.000Z'],
    ['Sat, 31 Dec 2016 23:59:60 +0000', '2016-12-31T23:59:59.000Z'],
  ]
  for (const [text, expected] of cases) {
    const at = parseDate(text)
    assert.equal(at === null ? null : new Date(at).toISOString(), expected, text)
  }
})

test('what names no moment', () => {
  const wrong = [
    ...[
      '',
      'now',
      '31 Feb 2003 10:00 GMT',
      '1 Foo 2003 10:00 GMT',
      '1 Jul 2003',
      '1 Jul 2003 25:00 GMT',
      '1 Jul 2003 10:61 GMT',
    ],
    ...['0 Jul 2003 10:00 GMT', `1 Jul 2003 10:00 ${'('.repeat(500)}`, '99999999999'],
    ...['(1 Jul 2003 10:00 GMT', 'April 31, 2003 9:00 AM', 'Fri, May 2017 10:52:37 +0200'],
  ]
  for (const text of wrong) assert.equal(parseDate(text), null, text)
})
