// How words are learned and counted, and what the start model makes of messages it has not seen.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readHeaders } from '../../../src/mime/headers.ts'
import { parseMessage } from '../../../src/mime/parse.ts'
import { FACTS } from '../../../src/spam/catalog.ts'
import { FeatureSet } from '../../../src/spam/feature-set.ts'
import { contentFeatures, originFeatures } from '../../../src/spam/features.ts'
import { readMaterial } from '../../../src/spam/material.ts'
import { probability, SpamModel } from '../../../src/spam/model.ts'
import { examineContent, HAM_LOSS, wordParts } from '../../../src/spam/score.ts'
import { StartModel, startModel } from '../../../src/spam/start-model.ts'

function message(subject: string, text: string, from = 'Ann <ann@out.example>') {
  const bytes = Buffer.from(
    `From: ${from}\r\nSubject: ${subject}\r\nX-Mailer: Pine\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n`,
  )
  const parsed = parseMessage(bytes)
  const material = readMaterial(bytes, parsed)
  const { words, grams } = contentFeatures(material)
  return { material, views: [words, grams, originFeatures(parsed, readHeaders(bytes).fields)] }
}

test('a feature counts once, and a set is empty after it was taken', () => {
  const set = new FeatureSet()
  for (const hash of [5, 6, 5]) set.add(hash)
  const features = set.take()
  assert.equal(features.length, 2)
  assert.equal(set.take().length, 0)
  set.add(5)
  assert.deepEqual(set.take(), features.subarray(0, 1))
})

test('the same message has the same features, whatever was read before', () => {
  const first = message('Offer', 'Buy now')
  message('Else', 'x '.repeat(30_000))
  assert.deepEqual(message('Offer', 'Buy now').views, first.views)
  assert.notDeepEqual(message('Buy now', 'Offer').views[0], first.views[0], 'a word of the subject is another feature')
})

test('invisible characters and letters of other scripts do not hide a word', () => {
  const words = (text: string) => message('Offer', text).views.slice(0, 2)
  assert.deepEqual(words('order cheap wat\u200bch\u00ades'), words('order cheap watches'))
  assert.deepEqual(words('order cheap w\u0430tches'), words('order cheap watches'))
  assert.notDeepEqual(words('\u0437\u0430\u043a\u0430\u0437'), words('order'))
})

test('a model learns from few labels, in both directions', () => {
  const model = new SpamModel(16)
  const spam = (at: number) => message(`Offer ${at}`, `Cheap watches number ${at}, order today`).views
  const good = (at: number) =>
    message(`Re: plan ${at}`, `The meeting about part ${at} is on Monday`, 'Bo <bo@here.example>').views
  assert.equal(probability(model.logOdds(spam(0))), 0.5)
  for (let at = 1; at <= 10; at++) {
    model.learn(spam(at), true)
    model.learn(good(at), false)
  }
  assert.ok(model.logOdds(spam(99)) > 2)
  assert.ok(model.logOdds(good(99)) < -2)
  for (let at = 0; at < 20; at++) model.learn(spam(99), false)
  assert.ok(model.logOdds(spam(99)) < 0, 'a correction that is repeated prevails')
})

test('a model that adds to another one learns what that one misses', () => {
  const [alone, beside] = [new SpamModel(16), new SpamModel(16)]
  const { views } = message('Offer', 'Cheap watches')
  alone.learn(views, true)
  beside.learn(views, true, { prior: 8 })
  assert.ok(beside.logOdds(views) < alone.logOdds(views))
})

test('ham loss is read between the measured points, and falls by the odds beyond them', () => {
  const head = JSON.stringify({
    scale: 0.5,
    hamLoss: [
      [0.1, -2],
      [0.01, 0],
      [0.001, 2],
    ],
  })
  const model = new StartModel(Buffer.concat([Buffer.from(`${head}\n`), Buffer.from([2, 254])]))
  assert.equal(model.hamLoss(-3), 1)
  assert.equal(model.hamLoss(-2), 0.1)
  assert.ok(Math.abs(model.hamLoss(1) - 10 ** -2.5) < 1e-9)
  assert.ok(Math.abs(model.hamLoss(2 + Math.LN10) - 1e-4) < 1e-9)
  const views = { words: new Uint32Array([0]), grams: new Uint32Array([1, 3, 5]) }
  assert.ok(Math.abs(model.logOdds(views) - 0.5 * (2 / Math.SQRT2 - 6 / 2)) < 1e-6)
})

test('the start model files plain spam to Junk and leaves mail of services and people alone', () => {
  const options = { isList: false, fields: [], key: 1 }
  const points = (subject: string, text: string) =>
    wordParts(examineContent(message(subject, text).material, options, startModel()).logOdds, 0, HAM_LOSS)[0]?.points ??
    0
  const offer =
    'Make money fast! You have been selected for our FREE offer. No credit check, 100% guaranteed. ' +
    'Click here to order now, or reply with REMOVE in the subject to be taken off our list.'
  assert.ok(points('Get rich from home - $5000 a week guaranteed!!!', offer) >= 5)
  assert.equal(
    points('Re: notes of Tuesday', 'Hi Ben, I think the second patch is wrong, the lock is taken twice. Ann'),
    0,
  )
  assert.ok(
    points('Your parcel', 'Your order has been sent and should arrive on Friday. Thank you for your order.') < 5,
  )
})

test('every fact has a sentence, and no single fact about content refuses a message', () => {
  for (const [name, { kind, sentence, points }] of Object.entries(FACTS)) {
    assert.match(sentence, /^[A-Z].*\.$/, name)
    // The points of other programs are those of their verdicts.
    if (kind !== 'program') assert.ok((points > 0 || kind === 'history') && points <= 5, name)
  }
})
