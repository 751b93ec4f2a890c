// What a reader sees of HTML.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeEntities } from '../../../src/html/entities.ts'
import { HTML_TEXT_MAX, htmlToText } from '../../../src/html/visible-text.ts'

test('blocks stand on lines, paragraphs apart, white space folds', () => {
  const html = '<h1>Title</h1>\n<p>One  <b>bold</b>\n word<br>next</p><div>a</div><div>b</div><ul><li>x<li>y</ul>'
  assert.equal(htmlToText(html), 'Title\n\nOne bold word\nnext\n\na\nb\n\nx\ny')
  assert.equal(htmlToText('<table><tr><td>a</td><td>b</td></tr><tr><td>c<td>d</table>'), 'a b\nc d')
  assert.equal(htmlToText('<pre>a\n  b</pre>c'), 'a\n  b\n\nc')
})

test('links keep their text, words stay together', () => {
  assert.equal(htmlToText('go <a href="https://x.example">there</a>, w<b>or</b>d'), 'go there, word')
})

test('nothing unseen is left', () => {
  const unseen = [
    '<head><title>t</title><style>a{}</style><meta charset=x></head>',
    '<script>if (a<b) "</p>"</script>',
    '<template>t</template><noscript>n</noscript><object>o</object>',
    '<div style="display:none">h<div>i</div>j</div>',
    "<span STYLE='Color:red; Display : NONE !important'>h</span>",
    '<p style="display:none">hidden',
    '<span style="visibility:hidden">h</span><span style="font-size:0px;line-height:1">h</span>',
    '<p style="opacity:0">h</p><p style="position:absolute;left:-9999px">h</p><p style="text-indent:-9999px">h</p>',
    '<p style="max-height:0;overflow:hidden">h</p><p style="font-size:1px">h</p><p style="font:0/0 a">h</p>',
    '<span style="dis&#112;lay:none">h</span><span hidden>h</span><span style="display/**/:none">h</span>',
    '<!-- c --><!--[if mso]>outlook<![endif]--><!doctype html><?xml v?><!-->',
  ]
  for (const html of unseen) assert.equal(htmlToText(`${html}<p>seen</p>`), 'seen', html)
  for (const html of [
    '<i style="font-size:0.9em">seen</i>',
    '<i data-x="hidden">seen</i>',
    '<i class=hidden>seen</i>',
  ]) {
    assert.equal(htmlToText(html), 'seen', html)
  }
})

test('a hidden row or item ends where the next begins', () => {
  assert.equal(htmlToText('<table><tr><td style="display:none">h<td>seen</table>'), 'seen')
  assert.equal(htmlToText('<ul><li hidden>h<li>seen</ul>'), 'seen')
})

test('broken markup reads as in a browser', () => {
  const cases: [string, string][] = [
    ['a < b and 1<2', 'a < b and 1<2'],
    ['a <b title="x>y">b</b> c', 'a b c'],
    ["a <b don't>b", 'a b'],
    ['</p>a</nothing>', 'a'],
    ['a<br/>b<BR >c', 'a\nb\nc'],
    ['a <b', 'a'],
    ['a <!-- never ends', 'a'],
    ['a <script>never ends', 'a'],
    ['<title>a</titlex></title >b', 'b'],
    ['<a href="never ends>b</a>', ''],
    ['', ''],
  ]
  for (const [html, expected] of cases) assert.equal(htmlToText(html), expected, html)
})

test('character references', () => {
  const cases: [string, string][] = [
    ['&lt;b&gt; &amp;amp; &quot;&apos;', '<b> &amp; "\''],
    ['&uuml;&Uuml;&euro;&hellip;&thetasym;&yuml;', 'üÜ€…ϑÿ'],
    ['&#252;&#xFC;&#x1F600;', 'üü😀'],
    ['&#128;&#150;', '€–'],
    ['&#0;&#xD800;&#x110000;&#99999999;', '\ufffd\ufffd\ufffd\ufffd'],
    ['&copy 2025 &ampx &hellip &nothing; &;&#;&', '© 2025 &ampx &hellip &nothing; &;&#;&'],
    ['&__proto__; &constructor;', '&__proto__; &constructor;'],
  ]
  for (const [text, expected] of cases) assert.equal(decodeEntities(text), expected, text)
})

test('targets of links stand behind their words where they are wanted', () => {
  const cases: [string, string][] = [
    ['<p>Click <a href="https://x.test/a?b=1&amp;c=2">here</a>, now.', 'Click here <https://x.test/a?b=1&c=2>, now.'],
    ['<a href="https://x.test/pay"><img src=button.png></a> end', '<https://x.test/pay> end'],
    ['<a href="https://x.test/">x.test</a>, <a href="mailto:a@x.test">a@x.test</a>', 'x.test, a@x.test'],
    ['<a href="#top">up</a> <a href="javascript:x()">run</a> <a>no</a>', 'up run no'],
    ['<a href="https://x.test/1">one<div>two</div></a><p>three', 'one\ntwo\n<https://x.test/1>\n\nthree'],
    ['<a href=https://x.test/1>one <a href=https://x.test/2>two', 'one <https://x.test/1>two <https://x.test/2>'],
    ['<div hidden><a href=https://x.test/1>one</a></div>seen', 'seen'],
    [`<a href="https://x.test/${'a'.repeat(3000)}">long</a>`, 'long'],
    ['<a href="https://x.test/a&#10;b&gt;c">odd</a>', 'odd <https://x.test/abc>'],
  ]
  for (const [html, expected] of cases) assert.equal(htmlToText(html, { alternative: true }), expected, html)
})

test('a text alternative marks each line of a quotation', () => {
  const cases: [string, string][] = [
    [
      '<p>Yes.</p><p>Ana wrote:</p><blockquote type="cite"><p>One<br>two</p><p>three</p></blockquote><p>Bye</p>',
      'Yes.\n\nAna wrote:\n\n> One\n> two\n>\n> three\n\nBye',
    ],
    ['<blockquote>a<blockquote>b</blockquote>c</blockquote></blockquote>d', '> a\n>\n>> b\n>\n> c\n\nd'],
    ['<blockquote><pre>a\n  b</pre></blockquote>', '> a\n>   b'],
    ['<blockquote><a href="https://x.example/">x.example</a></blockquote>', '> x.example'],
    ['<blockquote style="display:none">h</blockquote>seen', 'seen'],
    ['<blockquote>'.repeat(30) + 'deep', `${'>'.repeat(10)} deep`],
  ]
  for (const [html, expected] of cases) assert.equal(htmlToText(html, { alternative: true }), expected, html)
  assert.equal(htmlToText('<blockquote>a</blockquote>'), 'a')
})

test('the text is bounded', () => {
  assert.equal(htmlToText('word '.repeat(200_000)).length, HTML_TEXT_MAX)
})
