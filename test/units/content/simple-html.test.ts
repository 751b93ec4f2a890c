// Quotations as HTML: whatever a message contains, only the tags and links written here come out, and all of them are closed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanContent } from '../../../src/content/clean/clean.ts'
import { simpleHtml } from '../../../src/content/clean/simple-html.ts'
import { Random } from '../../support/random.ts'

const TAG =
  /^<\/?(p|br|strong|em|a|ul|ol|li|blockquote|code|pre|h[1-6]|hr|table|thead|tbody|tr|td|th|s)((?:\s[^<>]*)?)\/?>$/
const ATTRIBUTES =
  /^(?:\s(?:href="(?:https?:\/\/|mailto:)[^"<>]*"|title="[^"<>]*"|start="\d+"|style="text-align:\w+"))*\s*$/
const VOID = new Set(['br', 'hr'])
const OPTIONS = {
  format: 'markdown',
  chars: 5000,
  includeQuoted: true,
  includeSignature: true,
  links: 'inline',
} as const

async function quoted(source: { text: string | null; html: string | null }): Promise<string> {
  return simpleHtml(cleanContent({ ...source, incomplete: false, fromDomain: 'a.test' }, OPTIONS).content)
}

function check(html: string, what: string): void {
  const open: string[] = []
  for (const [tag] of html.matchAll(/<[^>]*>?/g)) {
    const [, name, attributes] = TAG.exec(tag) ?? []
    assert.ok(name !== undefined, `${what}: ${tag}`)
    assert.match(attributes!, ATTRIBUTES, `${what}: ${tag}`)
    if (VOID.has(name)) continue
    if (tag.startsWith('</')) assert.equal(open.pop(), name, what)
    else open.push(name)
  }
  assert.deepEqual(open, [], what)
}

test('markup of any kind comes out as text', async () => {
  const texts = [
    '<script>run()</script><img src=x onerror=run()>',
    '[x](javascript:run()) ![p](https://evil.test/p.png) <javascript:run()> <https://a.test>',
    '[a]: https://evil.test "t"\n\n[a] [b][a]',
    '```html\n<script>\n```\n    <b>code</b>',
    '> quoted <b>\n>> deeper\nlazy <i>',
    '&lt;script&gt; &#60;img&#62; &amp;lt;',
    '|a|b|\n|-|-|\n|<b>|[x](data:text/html,x)|',
    '<!-- </blockquote></div> --> <![CDATA[x]]> <?php ?> </p>',
  ]
  for (const text of texts) {
    check(await quoted({ text, html: null }), text)
    check(await quoted({ text: null, html: `<p>${text}</p>` }), text)
  }
  assert.match(await quoted({ text: '<b>&lt;', html: null }), /&lt;b&gt;&amp;lt;/)
  assert.match(
    await quoted({ text: null, html: '<b>bold</b> <a href="https://a.test/?a=1&amp;b=2">link</a><ul><li>one</ul>' }),
    /<strong>bold<\/strong> <a href="https:\/\/a\.test\/\?a=1&amp;b=2">link<\/a>[\s\S]*<li>one<\/li>/,
  )
})

test('random mixtures of HTML, Markdown and text stay within the allowed tags', async () => {
  const random = new Random(2026)
  const pieces = [
    '<b>',
    '</b>',
    '<a href="https://a.test/(x)">',
    '<a href="javascript:x">',
    '</a>',
    '<blockquote>',
    '</blockquote>',
  ]
  pieces.push(
    '<ul><li>',
    '</ul>',
    '<table><tr><td>',
    '</table>',
    '<pre>',
    '</pre>',
    '<img src="https://e.test/x">',
    '<br>',
    '\n',
    '\n\n',
  )
  pieces.push(
    '*',
    '_',
    '`',
    '```',
    '[',
    ']',
    '(',
    ')',
    '!',
    '#',
    '> ',
    '- ',
    '1. ',
    '|',
    '\\',
    '<',
    '>',
    '&',
    '&lt;',
    '"',
    "'",
    '~~',
    '\u0000',
  )
  pieces.push(
    'word',
    ' ',
    'https://b.test',
    'mailto:x@y.test',
    '<style>',
    '</style>',
    '<script>',
    '</script>',
    '<svg onload=x>',
    '=',
    '---',
  )
  for (let round = 0; round < 400; round++) {
    const mixture = Array.from({ length: 5 + random.below(60) }, () => random.pick(pieces)).join('')
    check(await quoted({ text: null, html: mixture }), mixture)
    check(await quoted({ text: mixture, html: null }), mixture)
  }
})
