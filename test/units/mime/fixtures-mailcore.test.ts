// mime/mailcore2: part trees, and the first words of mails in charsets that are wrong, missing or exotic.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Part } from '../../../src/mime/message.ts'
import { fixtureBytes, fixtureJson, fixtureNames, fixturesMissing } from '../../support/fixtures.ts'
import { soundMail } from '../../support/mail.ts'

const FOLDER = 'mime/mailcore2'
const skip = fixturesMissing(FOLDER)

interface OraclePart {
  partType: string
  mimeType?: string
  mainPart?: OraclePart
  parts?: { items: OraclePart[] }
}

/** mailcore2 knows mixed, alternative, related and signed; a digest is mixed to it. */
function ours(part: Part): string {
  const type = part.type === 'multipart/digest' ? 'multipart/mixed' : part.type
  return part.parts.length > 0 || type.startsWith('multipart/') ? `${type}(${part.parts.map(ours)})` : type
}

function theirs(part: OraclePart): string {
  if (part.partType === 'message') return `message/rfc822(${theirs(part.mainPart!)})`
  return part.parts ? `${part.partType}(${part.parts.items.map(theirs)})` : part.mimeType!
}

/** Trees that differ, and why ours is right. */
const TREES = new Map([
  ['mbox/simple/2', 'the same boundary three times: the mail itself says that the text lies three levels deep'],
])

for (const name of fixtureNames(`${FOLDER}/parser/input`)) {
  test(`parser/${name}`, { skip }, () => {
    const mail = soundMail(fixtureBytes(`${FOLDER}/parser/input/${name}`))
    const oracle = fixtureJson<{ mainPart: OraclePart; header: { subject?: string; messageID: string } }>(
      `${FOLDER}/parser/output/${name}`,
    )
    assert.equal(ours(mail.structure!) === theirs(oracle.mainPart), !TREES.has(name), ours(mail.structure!))
    assert.equal(mail.subject, oracle.header.subject ?? '')
  })
}

/** What the summary shows and we do not; the oracle leaves out reply marks and prefers the HTML form. */
const SUMMARIES = new Map([
  ['emoji1.eml', 'the plain form has "??" for the emoji: it is what the sender wrote there'],
  ['5231-emoji.eml', '"No Subject" is a word of the display'],
])

/** As many characters of the body must agree: behind them the oracle prints link targets and attachments. */
const COMPARED = 45

for (const name of fixtureNames(`${FOLDER}/summary/input`)) {
  test(`summary/${name}`, { skip }, () => {
    const mail = soundMail(fixtureBytes(`${FOLDER}/summary/input/${name}`))
    const output = fixtureBytes(`${FOLDER}/summary/output/${name.replace('.eml', '.txt')}`).toString()
    const header = (field: string) => new RegExp(`^${field}: (.*)$`, 'm').exec(output)?.[1] ?? ''
    const words = (text: string) => text.replace(/\s+/g, '').slice(0, COMPARED)
    const [from] = mail.from
    const agrees =
      mail.subject.replace(/^Re: /, '') === header('Subject') &&
      words(mail.searchText) === words(output.slice(output.indexOf('\n\n')))
    assert.equal(from!.name === '' ? from!.email : `${from!.name} <${from!.email}>`, header('From'))
    assert.equal(agrees, !SUMMARIES.has(name), `${mail.subject}: ${mail.searchText.slice(0, 100)}`)
  })
}
