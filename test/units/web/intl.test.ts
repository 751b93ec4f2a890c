// Dates, numbers and amounts as the person chose them: the locale, the clock, and the language of the sentences they stand in.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import {
  clockTime,
  day,
  dayAndTime,
  dayOf,
  exact,
  fieldDay,
  hourOf,
  moment,
  preciseTime,
  relative,
  setClock,
  setLocale,
  setTimeZone,
  shortDay,
  startOfDay,
  startOfDayBefore,
  startOfFieldDay,
  wayOfTimes,
} from '../../../web/src/base/dates.ts'
import { count, money, plural, size } from '../../../web/src/base/numbers.ts'

const AT = new Date(2030, 4, 8, 14, 2, 11, 482).toISOString()
const NOW = new Date(2030, 4, 14, 9, 0, 0)

/** Intl writes narrow and no-break spaces. */
const plain = (text: string) => text.replace(/\s/g, ' ')

afterEach(() => {
  setClock('24')
  setLocale('en', 'en')
  setTimeZone(null)
})

test('lists know when their times are written in another way: by the day, the zone, the clock, the locale', () => {
  const noon = new Date('2030-05-08T12:00:00Z')
  setTimeZone('UTC')
  const first = wayOfTimes(noon)
  assert.equal(wayOfTimes(new Date('2030-05-08T20:00:00Z')), first)
  const others = [wayOfTimes(new Date('2030-05-09T12:00:00Z'))]
  setTimeZone('Asia/Tokyo')
  others.push(wayOfTimes(noon))
  setTimeZone('UTC')
  setClock('12')
  others.push(wayOfTimes(noon))
  setClock('24')
  setLocale('de', 'en')
  others.push(wayOfTimes(noon))
  assert.equal(new Set([first, ...others]).size, 5)
})

test('a day of a field begins at midnight in the time zone of the person, and is shown again', () => {
  const begins: [string, string, string][] = [
    ['UTC', '2030-05-08', '2030-05-08T00:00:00.000Z'],
    ['Pacific/Kiritimati', '2030-05-08', '2030-05-07T10:00:00.000Z'],
    ['Pacific/Pago_Pago', '2030-05-08', '2030-05-08T11:00:00.000Z'],
    // The clock goes forward an hour on that day.
    ['Europe/Berlin', '2030-03-31', '2030-03-30T23:00:00.000Z'],
  ]
  for (const [zone, day, at] of begins) {
    setTimeZone(zone)
    assert.equal(new Date(startOfFieldDay(day)).toISOString(), at, zone)
    assert.equal(fieldDay(Date.parse(at)), day, zone)
  }
  assert.ok(Number.isNaN(startOfFieldDay('')))
})

test('times and days are those of the time zone that the person chose', () => {
  const at = '2030-05-08T22:30:00.000Z'
  setTimeZone('Pacific/Auckland')
  assert.equal(clockTime(at), '10:30:00')
  assert.equal(day(at, new Date('2030-06-01T00:00:00Z')), '9 May')
  assert.equal(moment(at, new Date('2030-05-09T11:00:00Z')), '10:30', 'today there')
  assert.equal(moment(at, new Date('2030-05-08T11:00:00Z')), '9 May', 'tomorrow there')
  assert.equal(dayAndTime(at, new Date('2030-05-09T11:00:00Z')), 'Today, 10:30')
  assert.match(exact(at), /Thursday.* 9 May 2030.*10:30:00/)
  assert.equal(day('2029-12-31T12:00:00Z', new Date(at)), '1 Jan', 'this year there')
  const date = new Date(at)
  assert.deepEqual([hourOf(date), shortDay(date), dayOf(date)], [10, 'Thu 9', '8 May'])
  assert.equal(new Date(startOfDay(date)).toISOString(), '2030-05-08T12:00:00.000Z')
  setTimeZone('America/New_York')
  // Days of 23 and of 25 hours.
  for (const [noon, midnight] of [
    ['2030-03-10T20:00:00Z', '2030-03-10T05:00:00.000Z'],
    ['2030-11-03T20:00:00Z', '2030-11-03T04:00:00.000Z'],
  ] as const) {
    assert.equal(new Date(startOfDay(new Date(noon))).toISOString(), midnight)
  }
  // Tomorrow in UTC; a day of 23 hours lies between.
  const evening = new Date('2030-03-13T01:30:00Z')
  const before = [0, 7].map((days) => new Date(startOfDayBefore(days, evening)).toISOString())
  assert.deepEqual(before, ['2030-03-12T04:00:00.000Z', '2030-03-05T05:00:00.000Z'])
  setTimeZone('UTC')
  const inUtc = clockTime(at)
  setTimeZone('No/Such_Zone')
  assert.equal(inUtc, '22:30:00')
  assert.equal(clockTime(AT), '14:02:11', 'that of the browser')
})

test('dates and numbers follow the chosen locale, sentences their own language', () => {
  setLocale('de-DE', 'en')
  assert.equal(day(AT, NOW), '8. Mai')
  assert.equal(count(1220), '1.220')
  assert.equal(plural(1220, 'row', 'rows'), '1.220 rows')
  assert.equal(relative(AT, Date.parse(AT) + 180_000), '3 minutes ago')
  assert.equal(plain(money('24.796000', 'EUR')), '24,796 €')
  setLocale('fr-FR', 'en')
  assert.equal(plural(0, 'row', 'rows'), '0 rows', 'French counts 0 as one, English does not')
  assert.equal(plain(size(14_200_000)), '14,2 Mo')
})

test('dates follow the locale of the browser, also where the pages are in another language', (t) => {
  t.mock.getter(navigator, 'language', () => 'de-DE')
  setLocale('', 'en')
  assert.equal(day(AT, NOW), '8. Mai')
  assert.equal(count(1220), '1.220')
  assert.equal(relative(AT, Date.parse(AT) + 180_000), '3 minutes ago')
})

test('English without a region has days before months; a language of the pages has its own dates', () => {
  setLocale('en', 'en')
  assert.equal(day(AT, NOW), '8 May')
  assert.equal(size(1), '1 byte')
  assert.equal(size(512), '512 bytes')
  assert.equal(size(14_200_000_000), '14.2 GB')
  setLocale('', 'de')
  assert.equal(relative(AT, Date.parse(AT) + 180_000), 'vor 3 Minuten')
})

test('hours are counted to 24, or to 12', () => {
  assert.equal(clockTime(AT), '14:02:11')
  assert.equal(preciseTime(AT), '14:02:11.482')
  assert.equal(dayAndTime(AT, new Date(AT)), 'Today, 14:02')
  setClock('12')
  assert.match(plain(clockTime(AT)), /^0?2:02:11 pm$/i)
  assert.match(plain(dayAndTime(AT, NOW)), /^8 May, 0?2:02 pm$/i)
})
