// Markdown of clean content, rendered by a library that passes raw HTML on: whatever the message says, nothing in it is active.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import MarkdownIt from 'markdown-it'
import { cleanContent } from '../../../src/content/clean/clean.ts'
import { parseMessage, partText } from '../../../src/mime/parse.ts'
import { findPart } from '../../../src/mime/structure.ts'
import { amount, some } from '../../support/amount.ts'
import { type ForeignMessage, SUITES } from '../../support/foreign.ts'
import { Random } from '../../support/random.ts'

type Bodies = { text: string | null; html: string | null }
type Token = ReturnType<InstanceType<typeof MarkdownIt>['parse']>[number]

const RENDERERS = {
  lenient: new MarkdownIt({ html: true, linkify: true }),
  strict: new MarkdownIt('commonmark', { html: true }),
}
/** Elements that Markdown itself can make, without pictures. */
const ELEMENTS = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code hr br strong em s a table thead tbody tr th td'.split(' '),
)
const HARMLESS = /^(?:https?:|mailto:|tel:|ftp:|\/\/)/i

function markdownOf(bodies: Bodies, links: 'inline' | 'list' = 'inline', chars = 1_000_000) {
  const options = { format: 'markdown', chars, includeQuoted: false, includeSignature: false, links } as const
  return cleanContent({ ...bodies, incomplete: false, fromDomain: '' }, options)
}

function tokensOf(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) => [token, ...tokensOf(token.children ?? [])])
}

/** Fails for anything that a renderer of Markdown would run, fetch or follow to a harmful place. */
function assertInert(markdown: string, name: string): void {
  for (const [kind, renderer] of Object.entries(RENDERERS)) {
    const told = `${name}, ${kind}:\n${markdown.slice(0, 2000)}`
    for (const token of tokensOf(renderer.parse(markdown, {}))) {
      assert.doesNotMatch(token.type, /^(?:html_|image)/, told)
      if (token.type === 'link_open')
        assert.match(String(token.attrGet('href')), HARMLESS, `${token.attrGet('href')} ${told}`)
    }
    for (const [, element, attributes] of renderer.render(markdown).matchAll(/<\/?([a-z0-9-]+)([^>]*)>/gi)) {
      assert.ok(ELEMENTS.has(element!.toLowerCase()), told)
      assert.match(attributes!, /^(?:\s(?:href|start|style|class)="[^"]*")*(?:\s?\/)?$/, told)
    }
  }
}

function assertAllInert(bodies: Bodies, name: string): void {
  for (const links of ['inline', 'list'] as const) {
    const { content, quoted, signature } = markdownOf(bodies, links)
    for (const text of [content, quoted, signature]) assertInert(text ?? '', name)
  }
}

function bodiesOf({ content }: ForeignMessage): Bodies {
  const mail = parseMessage(content)
  const [text, html] = [mail.textPart, mail.htmlPart].map((id) => {
    const part = id === null ? undefined : findPart(mail.structure!, id)
    return part ? partText(content, part, 200_000) : null
  })
  return { text: text!, html: html! }
}

/** Messages of a suite, unless all of them run. */
const OF_A_SUITE = 120

describe('every vector', () => {
  for (const [suite, messages] of SUITES) {
    test(`of ${suite} is inert as Markdown, its HTML and its text`, () => {
      for (const message of some(messages(), OF_A_SUITE)) {
        const { text, html } = bodiesOf(message)
        if (html !== null) assertAllInert({ text: null, html }, message.name)
        // The source of HTML is text as well: some programs send it so.
        for (const plain of [text, html]) if (plain !== null) assertAllInert({ text: plain, html: null }, message.name)
      }
    })
  }
})

/** What breaks out of Markdown where a writer forgets it. */
const PIECES = [
  ...'\\ ` `` ``` ```` ~~~ ~ * ** _ __ [ ] ( ) ![ ]( < > </ <! & # - + = | : ! " \' 1. 2) > >> \t \n \r \u00a0'.split(
    ' ',
  ),
  ...[
    '\n',
    '\n\n',
    '\n\n    ',
    '\n> ',
    '\n- ',
    '\n---\n',
    '\n===\n',
    '\n```\n',
    '\n<div>\n',
    '  \n',
    ' ',
    ' ',
    '\r',
    '\u2028',
  ],
  ...[
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<b onclick=x>',
    '<!--',
    '-->',
    '<?php',
    '<![CDATA[',
  ],
  ...[
    '![x](https://t.test/p.gif)',
    '[x](javascript:alert(1))',
    '[x]: javascript:alert(1)',
    '[x][y]',
    '[x]',
    '<javascript:x>',
    'javascript://',
    'https://',
    'x',
  ],
  ...[
    '<https://a.test/>',
    'https://a.test/?a=1&copy=2',
    'www.a.test',
    'a@b.test',
    '&lt;script&gt;',
    '&#60;',
    '&NewLine;',
  ],
  ...[
    'data:text/html,x',
    'word',
    'snake_case',
    'été',
    '日本',
    '\u200b',
    '\u200d\u200d',
    '\u{e0041}',
    '\ufeff',
    '\u0000',
    '\ud800',
  ],
]

function words(random: Random, most: number): string {
  return Array.from({ length: 1 + random.below(most) }, () => random.pick(PIECES)).join('')
}

const asHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** HTML whose words and attributes are made of the same pieces. */
function randomHtml(random: Random, depth = 0): string {
  const inner = () => (depth > 3 || random.chance(0.4) ? asHtml(words(random, 6)) : randomHtml(random, depth + 1))
  const shapes = [
    () => `<a href="https://x.test/${asHtml(words(random, 3))}">${inner()}</a>`,
    () => `<a href="mailto:${asHtml(words(random, 3))}">${inner()}`,
    () => `<img src="https://t.test/x" alt="${asHtml(words(random, 3))}">`,
    () => `<pre>${inner()}</pre>${inner()}`,
    () => `<table><tr><th>${inner()}<th>${inner()}<tr><td>${inner()}<td>${inner()}</table>`,
    () => `<ul><li>${inner()}<li>${inner()}</ul>`,
    ...['b', 'i', 'h2', 'p', 'blockquote', 'li', 'code', 'div', 'blockquote type=cite'].map(
      (tag) => () => `<${tag}>${inner()}</${tag.split(' ')[0]}>`,
    ),
    () => `${inner()}<br>${inner()}<hr>${inner()}`,
  ]
  return random.pick(shapes)() + (random.chance(0.5) ? random.pick(shapes)() : '')
}

describe('generated messages', () => {
  test('plain text is inert, wherever it is cut', () => {
    const random = new Random(13)
    for (let round = 0; round < amount(150, 500); round++) {
      const text = words(random, 30)
      assertAllInert({ text, html: null }, JSON.stringify(text))
      const { content } = markdownOf({ text, html: null }, 'list', random.below(60))
      assertInert(content, `${JSON.stringify(text)}, cut`)
    }
  })

  test('HTML is inert, wherever it is cut', () => {
    const random = new Random(14)
    for (let round = 0; round < amount(150, 500); round++) {
      const html = randomHtml(random)
      assertAllInert({ text: null, html }, html)
      const { content } = markdownOf({ text: null, html }, 'inline', random.below(120))
      assertInert(content, `${html}, cut`)
    }
  })

  test('plain text is shown as it was written', () => {
    const random = new Random(15)
    const shown = (text: string) => text.replace(/[\s\u200b-\u200d\ufeff\u0000\u{e0041}]/gu, '')
    for (let round = 0; round < amount(150, 500); round++) {
      // A ">" at the beginning of a line becomes a quotation; that is looked at below.
      const text = words(random, 20)
        .toWellFormed()
        .replace(/(^|[\r\n])(?:[\s>\u200b\ufeff\u0000\u{e0041}]|\u200d)*>/gu, '$1')
      const { content, quoted, signature } = markdownOf({ text, html: null }, 'list')
      if (quoted !== null || signature !== null) continue
      for (const renderer of Object.values(RENDERERS)) {
        const tokens = tokensOf(renderer.parse(content, {}))
        const seen = tokens.filter(({ type }) => /^(?:text|text_special|code_inline|fence|code_block)$/.test(type))
        assert.equal(shown(seen.map((token) => token.content).join('')), shown(text), JSON.stringify(text))
      }
    }
  })
})

describe('the writer', () => {
  const html = (text: string, links: 'inline' | 'list' = 'inline') =>
    markdownOf({ text: null, html: text }, links).content
  const plain = (text: string) => markdownOf({ text, html: null }).content

  test('a fence is longer than any run of backticks inside, and holds no other', () => {
    const code = 'a\n```\n<script>x</script>\n\n\n````` b'
    const content = html(`<pre>${code.replaceAll('<', '&lt;')}</pre>`)
    assert.equal(content, `\`\`\`\`\`\`\n${code}\n\`\`\`\`\`\``)
    for (const renderer of Object.values(RENDERERS)) {
      assert.deepEqual(
        renderer.parse(content, {}).map((token) => [token.type, token.content]),
        [['fence', `${code}\n`]],
      )
    }
    const nested = html('<pre>a<pre>b</pre>c</pre>')
    assert.equal(nested, '```\na\n```\n\n```\nb\n```\n\n```\nc\n```')
    assert.equal(html('<blockquote><pre>a\n\nb</pre></blockquote>c'), '> ```\n> a\n>\n> b\n> ```\n\nc')
  })

  test('a fence stays closed where what it holds is cut out', () => {
    const { content, quoted } = markdownOf({
      text: null,
      html: 'own<pre>code\nOn 2030-01-02 10:00, Bob wrote:\n> x</pre>',
    })
    assert.equal(content, 'own\n\n```\ncode\n```')
    assert.equal(quoted, '```\nOn 2030-01-02 10:00, Bob wrote:\n> x\n```')
  })

  test('the text of a message that has no HTML is escaped', () => {
    assert.equal(plain('<script>x</script>'), '&lt;script>x&lt;/script>')
    assert.equal(plain('![x](https://t.test/p.gif)'), '!\\[x\\](https://t.test/p.gif)')
    assert.equal(plain('[x](javascript:alert)'), '\\[x\\](javascript:alert)')
    assert.equal(plain('# a\n1. b\n- c\n+ d\n---\n==='), '\\# a\n1\\. b\n\\- c\n\\+ d\n\\---\n\\===')
    assert.equal(plain('    a\r<b>\n\n\tc'), '\u00a0\u00a0\u00a0\u00a0a\n&lt;b>\n\n\u00a0\u00a0\u00a0\u00a0c')
    assert.equal(
      plain('snake_case, _x_, a ~ b ~~c~~, R&D, &lt;'),
      'snake_case, \\_x\\_, a ~ b \\~\\~c\\~\\~, R&D, \\&lt;',
    )
  })

  test('quoted lines of plain text are block quotations that end where they end', () => {
    const { quoted } = markdownOf({
      text: 'Yes.\n\nOn 2030-01-02 10:00, Bob wrote:\n> <b>\n>> # c\n> d\n\n-- \nAna',
      html: null,
    })
    assert.equal(quoted, 'On 2030-01-02 10:00, Bob wrote:\n> &lt;b>\n> > \\# c\n\n> d')
    const deep = markdownOf({ text: `a\n${'>'.repeat(50)} b`, html: null }).quoted!
    assert.equal(deep, `${'> '.repeat(10)}\\${'>'.repeat(40)} b`)
  })

  test('an address in the text takes no escape with it', () => {
    assert.equal(plain('https://a.test/!<b onclick=x>'), '<https://a.test/>!&lt;b onclick=x>')
    assert.equal(plain('_https://a.test/?b*, *c*'), '\\_<https://a.test/?b>\\*, \\*c\\*')
    assert.equal(plain('see https://a.test/a_b.'), 'see https://a.test/a_b.')
    assert.equal(plain('javascript://a.test/*[x]'), 'javascript\\://a.test/\\*\\[x\\]')
    assert.equal(html('<a href="https://x.test/">https://y.test/]*</a>'), '[https\\://y.test/\\]\\*](https://x.test/)')
  })

  test('a link is never made a picture, and its target ends where it ends', () => {
    assert.equal(html('Wow!<a href="https://t.test/p.gif">x</a>'), 'Wow\\![x](https://t.test/p.gif)')
    assert.equal(html('<a href="https://x.test/(a)`*[b]">x</a>'), '[x](https://x.test/%28a%29%60*%5Bb%5D)')
    assert.equal(html('<a href="https://x.test/?a&amp;copy;">x</a>'), '[x](https://x.test/?a\\&copy;)')
    assert.equal(html('<a href="https://x.test/">a]<br>b</a>'), 'a\\]\nb <https://x.test/>')
    assert.equal(html('<img src="cid:x" alt="](javascript:x) &lt;b>">'), '\\](javascript:x) &lt;b>')
  })
})
