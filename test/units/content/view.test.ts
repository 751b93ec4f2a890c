// The document of a message: what is left of hostile HTML, whose pictures it loads, what it folds, and its bounds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewDocument } from '../../../src/content/view/document.ts'
import { DROPPED } from '../../../src/content/view/elements.ts'
import { TAGS_MAX } from '../../../src/content/view/html-writer.ts'
import { PICTURES_MAX } from '../../../src/content/view/pictures.ts'
import { STYLE_SHEETS_MAX } from '../../../src/content/view/styles.ts'
import { VIEW_MAX, VIEW_WHOLE_MAX, type ViewOptions } from '../../../src/content/view/view.ts'
import { LINKS_MAX } from '../../../src/content/view/view-links.ts'
import { decodeEntities } from '../../../src/html/entities.ts'
import { attributesOf, readHtml } from '../../../src/html/tokens.ts'
import { fixtureJson } from '../../support/fixtures.ts'
import { HOSTILE_HTML } from '../../vectors/html.ts'

const OPTIONS: ViewOptions = { theme: 'light', withPictures: true, isQuoteOpen: false, isWhole: false }
const FILES = new Map([['logo@shop.test', 'att_a1b2c3d4e5f6g7h8i9j0k1l2']])

function view(html: string, options: Partial<ViewOptions> = {}) {
  return viewDocument({ text: null, html, incomplete: false, files: FILES }, { ...OPTIONS, ...options })
}

/** The body of the document, without the page around it. */
function body(html: string, options: Partial<ViewOptions> = {}): string {
  return /<body>([\s\S]*)<\/body>/.exec(view(html, options).html)![1]!
}

/** Everything in a document that could run or load something, as a sentence. */
function dangers(html: string): string[] {
  const found: string[] = []
  readHtml(html, {
    text: () => true,
    close() {},
    open(tag, attributes) {
      if (DROPPED.has(tag) && tag !== 'style' && tag !== 'title') found.push(`element ${tag}`)
      if (/^(?:base|link|form|input|button)$/.test(tag)) found.push(`element ${tag}`)
      for (const [name, raw] of attributesOf(attributes, 1000)) {
        const value = decodeEntities(raw)
        if (name.startsWith('on') || /^(?:srcdoc|srcset|action|formaction|ping|xlink:href)$/.test(name)) {
          found.push(`attribute ${name}`)
        }
        if (name === 'href' && !/^(?:https?:|mailto:|tel:|#m-)/.test(value)) found.push(`link to ${value}`)
        if (/^(?:src|background|poster)$/.test(name) && !isOwn(value)) found.push(`${name} ${value}`)
        if (name === 'style') found.push(...styleDangers(value))
      }
    },
    raw: (tag, content) => void found.push(...(tag === 'style' ? styleDangers(content) : [`content of ${tag}`])),
  })
  return found.filter((one) => one !== 'content of title')
}

function isOwn(address: string): boolean {
  return /^(?:images\/\d+|\.\.\/\.\.\/attachments\/att_[a-z0-9]{24}\/content\?disposition=inline|data:image\/\w+;base64,)/.test(
    address,
  )
}

function styleDangers(css: string): string[] {
  const addresses = [...css.matchAll(/url\(\s*["']?([^"')]*)/gi)].map(([, address]) => address!)
  const foreign = addresses.filter((address) => !isOwn(address)).map((address) => `style url ${address}`)
  return /@import|@font-face|expression\(|image-set\(|<\//i.test(css) ? [...foreign, `style ${css}`] : foreign
}

test('nothing of hostile HTML can run, load from elsewhere or leave the document', () => {
  const foreign = fixtureJson<{ payload: string }[]>('html/dompurify-expect.json').map(({ payload }) => payload)
  for (const payload of [...HOSTILE_HTML, ...foreign]) {
    for (const theme of ['light', 'dark'] as const)
      assert.deepEqual(dangers(view(payload, { theme }).html), [], payload)
  }
})

test('styles: only own pictures, no fixed positions, no units of the viewport, the theme of the reader', () => {
  const style = (css: string, options: Partial<ViewOptions> = {}) =>
    /<\/style><style>([\s\S]*)<\/style><\/head>/.exec(view(`<style>${css}</style><p>x</p>`, options).html)?.[1] ?? ''
  assert.equal(style('#a > p { color: red }'), '#m-a > p{color:red}')
  assert.equal(style('@import "x"; @font-face { src: url(x) } p { color: red }'), 'p{color:red}')
  assert.equal(style('p{background:url(https://a.test/x.png)}'), 'p{background:url("images/0")}')
  assert.equal(
    style('p{background:url("cid:logo@shop.test")}'),
    `p{background:url("../../attachments/${FILES.get('logo@shop.test')}/content?disposition=inline")}`,
  )
  const loads = [
    'url(/own)',
    'u\\72l(https://a.test)',
    'u/**/rl(https://a.test)',
    'image-set("https://a.test/x" 1x)',
    'url("data:text/html,x")',
    'src("https://a.test")',
  ]
  for (const value of loads)
    assert.doesNotMatch(
      style(`p{background:${value};color:red}`, { withPictures: false }),
      /url\(|image-set|src\(/i,
      value,
    )
  assert.equal(style('p{position:fixed;position:sticky;position:var(--x);top:0}'), 'p{top:0}')
  assert.equal(style('p{height:100vh;width:50vw}'), 'p{height:800px;width:300px}')
  assert.equal(style('p{--x:url(https://a.test);--y:}{;color:red}', { withPictures: false }), '')
  assert.equal(style('p{content:"</b>"}'), 'p{content:"<\\/b>"}')
  assert.equal(style('p{color:red'), 'p{color:red}')
  assert.equal(style('p{content:"unclosed'), '')
  const media = '@media (prefers-color-scheme: dark) { p { color: red } }'
  assert.equal(style(media), '@media (max-width:0){p{color:red}}')
  assert.equal(style(media, { theme: 'dark' }), '@media (min-width:0){p{color:red}}')
})

test('colors: plain follows the page, aware has its own dark style, designed stays on paper', () => {
  const themes = (html: string) => view(html, { theme: 'dark' }).facts.theme
  assert.equal(themes('<p>Hello <b>Ana</b></p>'), 'plain')
  assert.equal(themes('<p style="color:#222">Hello</p>'), 'designed')
  assert.equal(themes('<table bgcolor="#ffffff"><tr><td>Hello'), 'designed')
  assert.equal(themes('<style>@media (prefers-color-scheme:dark){p{color:#eee}}</style><p>Hello'), 'aware')
  assert.match(view('<p style="color:#222">x', { theme: 'dark' }).html, /color-scheme:light\}body\{background:#fff\}/)
  assert.match(view('<p>x', { theme: 'dark' }).html, /color-scheme:dark\}body\{background:transparent\}/)
})

test('pictures: own ones, numbered remote ones, and those that only tell that the message is read', () => {
  const html =
    '<img src="cid:logo@shop.test"><img src="https://cdn.shop.test/a.png" width=600><img src=https://cdn.shop.test/a.png>' +
    '<img src="https://t.shop.test/o.gif" width=1 height=1><img src="https://x.list-manage.com/open.php">' +
    '<img src="https://cdn.shop.test/hidden.png" style="display:none"><img src="data:image/svg+xml;base64,AAAA">'
  const { html: shown, facts, pictures } = view(html)
  assert.deepEqual(pictures, ['https://cdn.shop.test/a.png'])
  assert.equal(shown.match(/src="images\/0"/g)?.length, 2)
  assert.deepEqual(facts.pictures, {
    count: 5,
    hosts: ['cdn.shop.test'],
    trackers: [
      { host: 't.shop.test', name: 'shop.test' },
      { host: 'x.list-manage.com', name: 'Mailchimp' },
      { host: 'cdn.shop.test', name: 'shop.test' },
    ],
  })
  const without = view(html, { withPictures: false })
  assert.doesNotMatch(without.html, /images\//)
  assert.deepEqual(without.pictures, pictures, 'numbers do not depend on what is shown')
  assert.deepEqual(view(html, { theme: 'dark' }).pictures, pictures)
})

test('links: where they lead, opened beside the page, and what speaks against them', () => {
  const html =
    '<a href="https://evil.test/x" title="https://paypal.com/">www.paypal.com</a> <a href="http://192.0.2.7/">pay</a>' +
    '<a href="https://bank.example@evil.test/">login</a> <a href="//shop.test/a">shop</a> <a href="mailto:a@b.test">write</a>' +
    '<a href="javascript:alert(1)">none</a> <a href="#top">up</a><a name="top"></a>'
  const { html: shown, facts } = view(html)
  assert.deepEqual(
    facts.links.map(({ n, text, href, host, warning }) => [n, text, href, host, warning]),
    [
      [0, 'www.paypal.com', 'https://evil.test/x', 'evil.test', 'mismatch'],
      [1, 'pay', 'http://192.0.2.7/', '192.0.2.7', 'address'],
      [2, 'login', 'https://bank.example@evil.test/', 'evil.test', 'user_info'],
      [3, 'shop', 'https://shop.test/a', 'shop.test', null],
      [4, 'write', 'mailto:a@b.test', null, null],
    ],
  )
  assert.match(
    shown,
    /<a href="https:\/\/evil\.test\/x" title="https:\/\/evil\.test\/x" target="_blank" rel="noopener noreferrer nofollow" data-link="0">/,
  )
  assert.match(shown, /<a>none<\/a> <a href="#m-top">up<\/a><a id="m-top"><\/a>/)
})

test('quotations are folded, forwarded messages are not, nor is a message that is nothing but one', () => {
  const folds = (html: string, options: Partial<ViewOptions> = {}) =>
    [...view(html, options).html.matchAll(/<details class="mailstead-quotation"( open)?>/g)].map(
      ([, open]) => open !== undefined,
    )
  assert.deepEqual(
    folds('Yes.<div class="gmail_quote">On Monday Ana wrote:<blockquote type=cite>Will you?</blockquote></div>'),
    [false],
  )
  assert.deepEqual(
    folds('<p>Yes.</p><p>On 2 Jan 2030, Ana &lt;ana@shop.test&gt; wrote:</p><blockquote>Will you?</blockquote>'),
    [false],
  )
  assert.deepEqual(folds('Yes.<div id="divRplyFwdMsg">From: Ana</div><p>Will you?</p>'), [false])
  assert.deepEqual(folds('See.<div class="gmail_quote">---------- Forwarded message ---------<br>From: Ana</div>'), [
    true,
  ])
  assert.deepEqual(folds('<blockquote type="cite">Will you?</blockquote>'), [true])
  assert.deepEqual(folds('Yes.<blockquote type="cite">Will you?</blockquote>', { isQuoteOpen: true }), [true])
  assert.deepEqual(folds('<p>He said:</p><blockquote>A quotation of a book</blockquote>'), [])
  const text = viewDocument(
    {
      text: 'Yes <b>, see https://a.test/x.\n\nOn 2030-01-02 10:00, Ana wrote:\n> Will you?\n',
      html: null,
      incomplete: false,
      files: FILES,
    },
    OPTIONS,
  )
  assert.equal(text.facts.hasQuote, true)
  assert.match(text.html, /Yes &lt;b&gt;, see <a href="https:\/\/a\.test\/x"[^>]+>https:\/\/a\.test\/x<\/a>\.\n/)
})

test('what is open is closed, in the order in which a browser closes it', () => {
  assert.equal(
    body('<div><p>One<p>Two<table><tr><td>A<td>B</div>'),
    '<div><p>One</p><p>Two</p><table><tr><td>A</td><td>B</td></tr></table></div>',
  )
  assert.equal(body('</div></body></html><b>x'), '<b>x</b>')
  assert.equal(
    body('<body bgcolor="#eee" style="margin:0"><p>x'),
    '<div style="background-color:#eee;margin:0"><p>x</p></div>',
  )
})

test('bounds: characters, tags, nesting, links, pictures and styles, in linear time', () => {
  const long = view('x'.repeat(VIEW_MAX + 1))
  assert.deepEqual([long.facts.clipped, long.html.length < VIEW_MAX + 5000], [true, true])
  assert.equal(view('x'.repeat(VIEW_MAX + 1), { isWhole: true }).facts.clipped, false)
  assert.equal(view('x'.repeat(VIEW_WHOLE_MAX + 1), { isWhole: true }).facts.clipped, true)
  assert.equal(view('<b>'.repeat(TAGS_MAX + 1)).facts.clipped, true)
  const nested = view(`${'<div>'.repeat(50_000)}deep`)
  assert.match(nested.html, /deep/)
  assert.ok((nested.html.match(/<div>/g) ?? []).length <= 256)
  assert.equal(view('<a href=https://a.test>x</a>'.repeat(LINKS_MAX + 10)).facts.links.length, LINKS_MAX)
  const pictures = Array.from({ length: PICTURES_MAX + 10 }, (_, n) => `<img src=https://a.test/${n}>`).join('')
  assert.equal(view(pictures).pictures.length, PICTURES_MAX)
  const styles = view(`<style>${'p{color:red}'.repeat(STYLE_SHEETS_MAX / 10)}</style>x`)
  assert.deepEqual([styles.facts.clipped, styles.html.length < STYLE_SHEETS_MAX + 5000], [true, true])
  assert.equal(view('<p style="display:none">abc</p>def').facts.hiddenChars, 3)
})
