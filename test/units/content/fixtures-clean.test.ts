// clean-content and html: answers of twelve languages and many programs, and HTML that is meant to break readers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CleanContent, cleanContent } from '../../../src/content/clean/clean.ts'
import { parseMessage, partText } from '../../../src/mime/parse.ts'
import { findPart } from '../../../src/mime/structure.ts'
import { some } from '../../support/amount.ts'
import { fixtureBytes, fixtureJson, fixtureNames, fixturesMissing } from '../../support/fixtures.ts'
import { HOSTILE_HTML } from '../../vectors/html.ts'
import { MESSAGES } from '../../vectors/messages.ts'

const FOLDER = 'clean-content'
const OPTIONS = {
  format: 'text',
  chars: 100_000,
  includeQuoted: false,
  includeSignature: false,
  links: 'list',
} as const

/** What a file of the suites says: a mail, HTML, or plain text. */
function clean(name: string): CleanContent {
  const bytes = fixtureBytes(`${FOLDER}/${name}`)
  if (name.endsWith('.html')) return of({ text: null, html: bytes.toString() })
  if (!name.endsWith('.eml')) return of({ text: bytes.toString().replaceAll('\r\n', '\n'), html: null })
  const mail = parseMessage(bytes)
  const [text, html] = [mail.textPart, mail.htmlPart].map((id) => {
    const part = id === null ? undefined : findPart(mail.structure!, id)
    return part ? partText(bytes, part, 1_000_000) : null
  })
  return of({ text: text!, html: html! })
}

function of(bodies: { text: string | null; html: string | null }): CleanContent {
  return cleanContent({ ...bodies, incomplete: false, fromDomain: '' }, OPTIONS)
}

const folded = (text: string) => text.replace(/\s+/g, ' ').trim()

/** The answer most of the texts begin with; everything behind it is quoted or a footer. */
const COMMON = /^Fusce bibendum, [^>]+ aliquet nec nec nibh\.$/

/** Texts with an answer of their own: how it begins and ends. */
const OWN: Record<string, [begins: string, ends: string]> = {
  'email_1.txt': ['Hi folks', '-Abhishek Kona'],
  'email_3.txt': ['Oh thanks.', '-Abhishek Kona'],
  'email_5.txt': ["One: Here's", 'for a while.'],
  'email_19.txt': ['On Thursday, I get', 'proper rendering.'],
  'email_20.txt': ['On Thursday.', 'On Thursday.'],
  'email_bullets.txt': ['test 2 this', '- and another'],
  'email_customer_quote_header_2.txt': ['Thank you', 'very much.'],
  'email_iphone.txt': ['Here is another', 'email'],
  'email_not_a_signature_2.txt': ['Hello,', 'Thanks!'],
  'email_reply_header.txt': ['This is the latest', 'Stranger'],
  'email_sent_from.txt': ['Hi it can happen', 'paragraphs.'],
  'email_thread.txt': ['This is new', 'from bellow.'],
  'email_tricky_11_double_signature.txt': ['Thanks for your help!', 'John'],
  'email_tricky_13_timestamp_variations.txt': ['Here are different', 'not quote headers.'],
  'email_tricky_19_quote_without_header.txt': ['I wanted to respond', 'my final thoughts.'],
  'email_tricky_20_html_entities.txt': ['The data should be &gt; 100', 'handled correctly.'],
  'email_tricky_3_code_block.txt': ["Here's the code", 'actual signatures.'],
  'email_tricky_7_multiple_dashes.txt': ['Here is my analysis', 'in my content.'],
  'email_tricky_9_nested_quotes.txt': ['I agree with', 'the points below.'],
  'sig_no_empty_line.txt': ['this is an email', 'empty line above.'],
}

/** Where we say more than the program the texts come from, and why. */
const DIFFERENT: Record<string, [ends: string, why: string]> = {
  'email_tricky_17_forward_header.txt': ['as quoted text.', 'What somebody forwards is what he sends.'],
  'email_with_date_headers.txt': ['my previous mail', '"[DATE]" is the mark of one help desk, and no date.'],
  'email_with_regards.txt': [
    'CEO @ Acme !',
    'A greeting is written by hand: only "-- " and the footers of telephones are cut.',
  ],
}

for (const name of fixtureNames(`${FOLDER}/crisp`, '.txt')) {
  test(`crisp/${name}`, () => {
    const { content, quoted, signature } = clean(`crisp/${name}`)
    const own = OWN[name]
    if (own !== undefined) {
      assert.ok(content.startsWith(own[0]) && content.endsWith(own[1]), content)
    } else if (DIFFERENT[name] !== undefined) assert.ok(content.endsWith(DIFFERENT[name][0]), content)
    else {
      assert.match(folded(content), COMMON)
      assert.ok(quoted !== null || signature !== null)
    }
  })
}

test('every answer of talon: the reply alone', { skip: fixturesMissing(FOLDER) }, () => {
  const html = fixtureNames(`${FOLDER}/talon/html_replies`, '.html')
  assert.ok(html.length >= 5)
  for (const name of html) {
    assert.equal(folded(clean(`talon/html_replies/${name}`).content), 'Hi. I am fine. Thanks, Alex', name)
  }
  const mails = fixtureNames(`${FOLDER}/talon/standard_replies`)
  assert.ok(mails.length >= 6)
  for (const name of mails) assert.equal(folded(clean(`talon/standard_replies/${name}`).content), 'Hello', name)
  assert.equal(folded(clean('talon/reply-separated-by-hr.html').content), 'Hi there Bob')
})

test('the replies and forwards of quotequail', { skip: fixturesMissing(FOLDER) }, () => {
  const own = (name: string) => folded(clean(`quotequail/${name}`).content)
  assert.equal(own('apple_reply.html'), 'Foo Bar')
  assert.equal(own('gmail_reply.html'), 'foo bar')
  assert.match(clean('quotequail/gmail_reply.html').signature!, /John Doe/)
  assert.match(own('mailru_forward.html'), /Пересылаемое сообщение.*Это тест!.*Иван Иванов$/)
  assert.equal(own('thunderbird_forward_unwrapped.html'), 'Dear John, This is a test.')
  // Outlook heads what it forwards as it heads what it answers: with words above it, both are taken for an answer.
  for (const name of ['outlook_forward.html', 'outlook_forward_unwrapped_top.html'])
    assert.equal(own(name), 'Original message More text')
})

test('HTML that is meant to run somewhere leaves words only', () => {
  const foreign = fixtureJson<{ payload: string }[]>('html/dompurify-expect.json').map(({ payload }) => payload)
  for (const payload of [...HOSTILE_HTML, ...foreign]) {
    for (const links of ['inline', 'list'] as const) {
      const found = cleanContent(
        { text: null, html: payload, incomplete: false, fromDomain: '' },
        { ...OPTIONS, format: 'markdown', links },
      )
      // Words may say anything; what a renderer of Markdown would make a tag or an address of is escaped or of a harmless kind.
      assert.doesNotMatch(found.content, /(?:^|[^\\])<(?!https?:|mailto:|tel:)[a-z/!]/i, payload)
      assert.doesNotMatch(found.content, /(?<!\\)\]\((?!https?:|mailto:|tel:)/, payload)
      for (const { url } of found.links) assert.match(url, /^(?:https?|mailto|tel):/i)
    }
  }
})

test('every message: the same content each time, and no more than there was', () => {
  const names = fixtureNames('corpus/spamassassin', '.txt').map((name) => `corpus/spamassassin/${name}`)
  const foreign = some(names, 40).map((name) => ({ name, content: fixtureBytes(name) }))
  for (const { name, content: bytes } of [...MESSAGES, ...foreign]) {
    const mail = parseMessage(bytes)
    const [text, html] = [mail.textPart, mail.htmlPart].map((id) => {
      const part = id === null ? undefined : findPart(mail.structure!, id)
      return part ? partText(bytes, part, 1_000_000) : null
    })
    const once = of({ text: text!, html: html! })
    assert.deepEqual(of({ text: text!, html: html! }), once, name)
    assert.ok(once.content.isWellFormed() && once.charCount === [...once.content].length, name)
    if (text !== null && text!.trim() !== '') assert.notEqual(once.content, '', name)
  }
})
