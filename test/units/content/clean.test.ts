// What is left of a mail once quoted history, signatures and hidden words are out of it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CleanContent, type CleanOptions, cleanContent } from '../../../src/content/clean/clean.ts'
import { HTML_MAX, htmlLines } from '../../../src/content/clean/html-lines.ts'
import { LINES_MAX, TEXT_MAX } from '../../../src/content/clean/line.ts'
import { RULES_MAX } from '../../../src/html/css/style-sheet.ts'
import { OPEN_MAX } from '../../../src/html/open-elements.ts'

const OPTIONS: CleanOptions = {
  format: 'text',
  chars: 20_000,
  includeQuoted: false,
  includeSignature: false,
  links: 'list',
}

const ofHtml = (html: string, options: Partial<CleanOptions> = {}): CleanContent =>
  cleanContent({ text: null, html, incomplete: false, fromDomain: '' }, { ...OPTIONS, ...options })
const ofText = (text: string, options: Partial<CleanOptions> = {}): CleanContent =>
  cleanContent({ text, html: null, incomplete: false, fromDomain: '' }, { ...OPTIONS, ...options })

describe('hidden text', () => {
  const hiding: [how: string, html: string][] = [
    ['display', '<div style="display:none">SECRET</div>'],
    ['display, important and spaced', '<div style="Display : NONE ! important">SECRET</div>'],
    ['display, as a reference', '<p style="dis&#112;lay:none">SECRET</p>'],
    ['display, with a comment', '<p style="display/*x*/:none">SECRET</p>'],
    ['a rule by class', '<style>.x{display:none}</style><p class="a x">SECRET</p>'],
    ['a rule that comes later', '<p class="x">SECRET</p><style>p.x{display:none}</style>'],
    ['a rule by what is around', '<style>#q > p, td .y b{visibility:hidden}</style><div id=q><p>SECRET</p></div>'],
    ['a rule for screens', '<style>@media screen{.x{font-size:0}}</style><i class=x>SECRET</i>'],
    ['visibility', '<p style="visibility:hidden">SECRET</p>'],
    ['no size', '<span style="font-size:0">SECRET</span>'],
    ['nearly no size', '<span style="font-size:1px">SECRET</span>'],
    ['no size, in short', '<font style="font:0/0 a">SECRET</font>'],
    ['a size of nothing inside', '<div style="font-size:0"><span style="font-size:1em">SECRET</span></div>'],
    ['opacity', '<span style="opacity:0">SECRET</span><b style="opacity:.01">SECRET</b>'],
    ['white on white', '<span style="color:#fff">SECRET</span>'],
    ['nearly white on white', '<span style="color:#fefefe">SECRET</span>'],
    ['the colour of the page', '<body bgcolor="#eee"><font color="#eeeeee">SECRET</font></body>'],
    ['the colour behind it', '<div style="background:#123456"><i style="color:rgb(18, 52, 86)">SECRET</i></div>'],
    ['no colour', '<i style="color:transparent">SECRET</i><i style="color:rgba(0,0,0,0)">SECRET</i>'],
    ['no fill', '<i style="-webkit-text-fill-color:transparent">SECRET</i>'],
    [
      'beside the page',
      '<div style="position:absolute;left:-9999px">SECRET</div><p style="text-indent:-999em">SECRET</p>',
    ],
    ['scaled to nothing', '<div style="transform:scale(0)">SECRET</div>'],
    ['cut away', '<div style="clip-path:inset(100%)">SECRET</div><p style="clip:rect(0,0,0,0)">SECRET</p>'],
    ['a box without room', '<div style="max-height:0;overflow:hidden">SECRET</div>'],
    ['the attribute', '<p hidden>SECRET</p>'],
    ['a dialog nobody opened', '<dialog>SECRET</dialog>'],
    ['an element without end', '<p hidden>SECRET<p>'],
    ['an item', '<ul><li style="display:none">SECRET<li></ul>'],
    ['ends that do not end it', '<b><div hidden></b>SECRET</div><div hidden><table><tr><td></div>SECRET</table></div>'],
    ['letters nobody sees', 'x\u{e0041}\u{e0042}\u{e0043}'.slice(1)],
    ['a run without width', '\u200b\u200c\u200d\u2060'],
  ]
  for (const [how, html] of hiding) {
    test(`by ${how} is removed and flagged`, () => {
      const { content, warnings } = ofHtml(`${html}seen`)
      assert.equal(content.replace(/^- /, ''), 'seen')
      assert.deepEqual(warnings, ['hidden_text_removed'])
    })
  }

  test('what no program shows is removed without a word', () => {
    const html = '<!-- c --><head><title>t</title></head><script>s</script><template>t</template><input value=v>seen'
    assert.deepEqual([ofHtml(html).content, ofHtml(html).warnings], ['seen', []])
  })

  const shown: [what: string, html: string][] = [
    ['small print', '<i style="font-size:0.7em">seen</i>'],
    ['grey', '<span style="color:#999">seen</span>'],
    ['white on a dark cell', '<table bgcolor=black><tr><td><span style="color:white">seen</span></table>'],
    ['white on a picture', '<div style="background:url(x) #fff"><p style="color:#fff">seen</p></div>'],
    [
      'words in a box without size that give themselves one',
      '<div style="font-size:0"><i style="font-size:14px">seen</i></div>',
    ],
    ['words made visible again', '<div style="visibility:hidden"><p style="visibility:visible">seen</p></div>'],
    [
      'what is hidden on telephones only',
      '<style>@media (max-width:600px){.m{display:none}}</style><p class=m>seen</p>',
    ],
    ['what a later rule shows', '<style>.m{display:none} .m{display:block}</style><p class=m>seen</p>'],
    ['what a stronger rule shows', '<style>p.m{display:block} .m{display:none}</style><p class=m>seen</p>'],
    ['a rule for links under the mouse', '<style>a:hover{color:#fff}</style><a href=x>seen</a>'],
    ['another class', '<style>.x{display:none}</style><i class="xx x-y">seen</i>'],
    ['a named data attribute', '<i data-x="hidden" class=hidden>seen</i>'],
    ['what Outlook does not show', '<!--[if !mso]><!-->seen<!--<![endif]-->'],
  ]
  for (const [what, html] of shown) {
    test(`${what}: stays and raises no warning`, () => {
      assert.deepEqual([ofHtml(html).content, ofHtml(html).warnings], ['seen', []])
    })
  }

  test('joiners that mean something stay, and so do flags and the marks of emoji', () => {
    const text = 'نمی‌خواهم 👩‍💻 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} ❤️'
    assert.deepEqual([ofText(text).content, ofText(text).warnings], [text, []])
    assert.equal(ofText('pay\u202egnp.exe\u202c').content, 'paygnp.exe')
    assert.equal(ofText('in\u00advis\u200bible').content, 'invisible')
  })

  test('what is nested deeper than is kept is not shown once it was hidden, whatever ends', () => {
    const deep = `${'<div>'.repeat(OPEN_MAX + 9)}<div hidden>${'</b></div>'.repeat(99)}SECRET`
    assert.equal(ofHtml(deep).content, '')
    assert.equal(ofHtml(`${'<div>'.repeat(OPEN_MAX + 9)}seen`).content, 'seen')
  })
})

describe('pictures and links', () => {
  test('an image becomes its alternative text; invisible images leave nothing', () => {
    const html =
      '<img src="https://t.test/p.gif" width="1" height=1 alt="px"><img src=//t.test/l.png alt="Shop"><img src="cid:1" alt="Plan">'
    assert.deepEqual([ofHtml(html).content, ofHtml(html).warnings], ['ShopPlan', ['remote_images_removed']])
    assert.deepEqual(ofHtml('<img src="cid:1" alt="Plan">').warnings, [])
  })

  const html =
    'See <a href="https://shop.test/x?a=1&amp;b=2">your order</a>, <a href="https://a.test/">a.test</a>, <a href="javascript:x">no</a>.'
  test('in a list, behind the words, or nowhere', () => {
    const list = ofHtml(html)
    assert.equal(list.content, 'See your order, a.test, no.')
    assert.deepEqual(list.links, [
      { text: 'your order', url: 'https://shop.test/x?a=1&b=2' },
      { text: 'a.test', url: 'https://a.test/' },
    ])
    const inline = ofHtml(html, { links: 'inline' })
    assert.deepEqual([inline.content, inline.links], ['See your order <https://shop.test/x?a=1&b=2>, a.test, no.', []])
    const marked = ofHtml(html, { links: 'inline', format: 'markdown' }).content
    assert.equal(marked, 'See [your order](https://shop.test/x?a=1&b=2), a.test, no.')
    const spaced = ofHtml(
      'a<a href="https://x.test"> b</a>c<p><a href="https://x.test"> d</a> <a href="https://y.test"> e</a>',
      { links: 'inline', format: 'markdown' },
    )
    assert.equal(spaced.content, 'a [b](https://x.test)c\n\n[d](https://x.test) [e](https://y.test)')
    assert.deepEqual(ofHtml(html, { links: 'none' }).links, [])
    assert.deepEqual(ofText('see https://a.test/x, or (https://b.test).').links, [
      { text: 'https://a.test/x', url: 'https://a.test/x' },
      { text: 'https://b.test', url: 'https://b.test' },
    ])
  })

  test('homoglyph domains are reported, those of another language are not', () => {
    const warned = (url: string) =>
      ofHtml(`<a href="${url}">x</a>`, { links: 'none' }).warnings.includes('homoglyph_domain')
    for (const url of ['https://раypal.com', 'https://xn--pypal-4ve.com/x', 'https://аррӏе.com', 'https://gооgle.com'])
      assert.ok(warned(url), url)
    for (const url of [
      'https://paypal.com',
      'https://münchen.de',
      'https://пример.рф',
      'https://почта.com',
      'https://日本語.jp',
    ])
      assert.ok(!warned(url), url)
    const from = cleanContent({ text: 'x', html: null, incomplete: false, fromDomain: 'xn--pypal-4ve.com' }, OPTIONS)
    assert.deepEqual(from.warnings, ['homoglyph_domain'])
  })
})

describe('layout', () => {
  test('tables are lines where their cells are, lists have marks, code keeps its spaces', () => {
    const html =
      '<table><tr><th>Item<th>Price</tr><tr><td>Pen</td><td>2 €</td></tr></table><table><tr><td><p>x</p><p>y</p></td><td>z</td></tr></table>' +
      '<ul><li>One<li>Two<ol><li>a<li>b</ol></ul><pre>a  b\n  c</pre>'
    assert.equal(
      ofHtml(html).content,
      'Item | Price\nPen | 2 €\n\nx\n\ny\n\nz\n\n- One\n- Two\n  1. a\n  2. b\n\na  b\n  c',
    )
    assert.equal(
      ofHtml(html, { format: 'markdown' }).content,
      '| Item | Price |\n| --- | --- |\n| Pen | 2 € |\n\nx\n\ny\n\nz\n\n- One\n- Two\n  1. a\n  2. b\n\n```\na  b\n  c\n```',
    )
  })

  test('Markdown has what HTML says, and nothing that only looks like it', () => {
    const html =
      '<h2>1 * 2</h2><p><b>Bold</b> and <i>soft</i> <b><i>both</i></b> [x](y)</p><hr><blockquote>wise</blockquote>'
    assert.equal(
      ofHtml(html, { format: 'markdown' }).content,
      '## 1 \\* 2\n\n**Bold** and _soft_ **_both_** \\[x\\](y)\n\n---\n\n> wise',
    )
  })

  test('cut at code points, counted, and reported', () => {
    const { content, truncated, charCount } = ofText('a💥b💥c', { chars: 2 })
    assert.deepEqual([content, truncated, charCount], ['a💥', true, 2])
    assert.deepEqual([ofText('ab', { chars: 2 }).truncated, ofText('', { chars: 0 }).truncated], [false, false])
    assert.ok(cleanContent({ text: 'a', html: null, incomplete: true, fromDomain: '' }, OPTIONS).truncated)
    assert.deepEqual(ofText('a\ufffdb').warnings, ['encoding_problem'])
  })

  test('the text part is read unless it is a stub', () => {
    const both = (text: string, html: string) =>
      cleanContent({ text, html, incomplete: false, fromDomain: '' }, OPTIONS).content
    assert.equal(both('The text', '<p>The HTML</p>'), 'The text')
    assert.equal(both(' \n', '<p>The HTML</p>'), 'The HTML')
    assert.equal(
      both('View this email in your browser', `<p>${'Long words. '.repeat(20)}</p>`),
      'Long words. '.repeat(20).trim(),
    )
  })
})

describe('quotations', () => {
  test('what was cut is given apart, or left where it was', () => {
    const mail = 'Yes.\n\nOn Mon, 2 Jan 2030, Bob <b@x.test> wrote:\n> Really?\n\n-- \nAna'
    const apart = ofText(mail)
    assert.equal(apart.content, 'Yes.')
    assert.equal(apart.quoted, 'On Mon, 2 Jan 2030, Bob <b@x.test> wrote:\n> Really?')
    assert.equal(apart.signature, '-- \nAna')
    const whole = ofText(mail, { includeQuoted: true, includeSignature: true })
    assert.deepEqual([whole.content, whole.quoted, whole.signature], [mail, null, null])
    assert.deepEqual([ofText('Yes.').quoted, ofText('Yes.').signature], [null, null])
  })

  test('answers between quoted lines stay, a message that is nothing else is shown, a forwarded one is content', () => {
    assert.equal(ofText('> a\nNo.\n> b\nYes.').content, 'No.\nYes.')
    assert.deepEqual([ofText('> a\n> b').content, ofText('> a\n> b').quoted], ['> a\n> b', null])
    const forwarded =
      'FYI\n\n---------- Forwarded message ---------\nFrom: B <b@x.test>\nDate: Mon\nSubject: S\nTo: c@x.test\n\nText\n-- \nB'
    assert.deepEqual([ofText(forwarded).content, ofText(forwarded).quoted], [forwarded, null])
    const gmail =
      '<div>FYI</div><div class="gmail_quote">---------- Forwarded message ---------<br>From: B<br><br>Text</div>'
    assert.match(ofHtml(gmail).content, /^FYI\n---------- Forwarded message ---------\nFrom: B\n\nText$/)
  })

  const introductions = [
    'On Mon, 2 Jan 2030 at 10:00, Bob Doe <bob@x.test> wrote:',
    'On 2030-01-02, at 20:26, Bob <bob@x.test> wrote:',
    'On Wed, 2 Jan 2030 08:14:43 -0200 Bob <bob@x.test> wrote',
    "On Jan 2, 2030, at 3:45 PM, O'Bob, Bob (Bob) <o'bob@x.test> wrote:",
    'On Jan 2, 2030, at 12:47 PM, Bob <\n416ffd3258d4d2fa4c85cfa4c44e1721@somewhere.x.test>\nwrote:',
    ' On Jan 2, 2030 9:59 AM, "x.test" <\nr+7f1b094@x.test> wrote:',
    '---- On Wed, 2 Jan 2030 14:02:50 +0530 bob@x.test wrote ----',
    'Am 02.01.2030 um 22:48 schrieb Bob <bob@x.test>:',
    'Am Mi., 2. Jan. 2030 um 17:58 Uhr schrieb Bob am Werk\n<bob@x.test>:',
    'Bob am Werk <bob@x.test> schrieb am So., 2.\nJan. 2030, 21:08:',
    'Le 2 janv. 2030 à 19:50, Bob <bob@x.test> a écrit :',
    'Le lun. 2 janv. 2030 à  19:42, Bob <bob@x.test>\na écrit :',
    'Il giorno mer 2 gen 2030 alle 10:00 Bob <bob@x.test> ha scritto:',
    'In data 2 gennaio 2030 21:11:31 "Bob" <bob@x.test> ha scritto:',
    'El 02/01/2030 06:13 p.m., Bob escribió:',
    'El mié, 2 ene 2030 a las 10:00, Bob (<bob@x.test>) escribió:',
    'Em 2 de janeiro de 2030 às 16:32:35, Bob (\nbob@x.test) escreveu:',
    'Op wo 2 jan. 2030 om 22:48 schreef Bob <bob@x.test>:',
    'Op 2 jan. 2030 om 16:48 heeft Bob <bob@x.test> het volgende geschreven:',
    'Den 2 januari 2030 22:48 skrev Bob <bob@x.test>:',
    'Den ons. 2. jan. 2030 kl. 13.09 skrev Bob <bob@x.test>:',
    'pe 2. tammikuuta 2030 klo 17.50 Bob\n<bob@x.test> kirjoitti:',
    'W dniu 2 stycznia 2030 01:53 użytkownik Bob <bob@x.test>\nnapisał:',
    'śr., 2 sty 2030 o 10:00 Bob <bob@x.test> napisał(a):',
    'ср, 2 янв. 2030 г. в 15:19, Боб <bob@x.test>:',
    '2 января 2030 г., 10:00, Боб <bob@x.test> написал:',
    'Dne 2. ledna 2030 10:00 Bob <bob@x.test> napsal(a):',
    '2030. jan. 2. 10:00 ezt írta Bob <bob@x.test>:',
    '2 Oca 2030 Çar 10:00 tarihinde Bob <bob@x.test> şunu yazdı:',
    '2030年1月2日(水) 10:00 ボブ <bob@x.test>:',
    '在 2030年1月2日，上午10:00，Bob <bob@x.test> 写道：',
    '2030. 1. 2. 오전 10:00, Bob <bob@x.test> 님이 작성:',
    '2030-01-02 11:28 GMT+03:00 Bob <bob@x.test>:',
    '11:00 AM, January 2, 2030, "Bob - x" <bob@x.test>:',
    'Wednesday, 2 January 2030, 3:32 PM +0300 from bob@x.test <bob@x.test>:',
    'في الأربعاء، 2 يناير 2030 في 10:00 ص تمت كتابة ما يلي بواسطة \u200eBob\u200f <\u200ebob@x.test\u200f>:',
    'في ٢ يناير ٢٠٣٠، الساعة ١٠:٠٠ ص، كتب بوب <bob@x.test>:',
    'بتاريخ ٢ يناير ٢٠٣٠ ١٠:٠٠ كتبت منى:',
    'في 2 يناير 2030، بوب كتب:',
    '\u200fבתאריך יום ד׳, 2 בינו׳ 2030 ב-10:00 מאת \u200eBob\u200f <\u200ebob@x.test\u200f>:\u200f',
    'ב-2 בינו׳ 2030, בשעה 10:00, Bob <bob@x.test> כתב/ה:',
    'ב-2 בינואר 2030, בשעה 10:00, מאת בוב:',
    'Wiadomość napisana przez Bob <bob@x.test> w dniu 2 sty 2030, o godz. 10:00:',
    'Wiadomość napisana przez Bob w dniu 2 sty 2030, o godz. 10:00:',
    'Dnia 2 stycznia 2030 10:00 Bob <bob@x.test> napisał(a):',
    'W dniu 2.01.2030 o 10:00, Bob pisze:',
    'pon., 2 sty 2030 o 10:00 użytkownik Bob <bob@x.test> napisał:',
  ]
  for (const line of introductions) {
    test(`"${line.replaceAll('\n', ' ')}" introduces one, with and without marks`, () => {
      const marked = ofText(`Yes.\n\n${line}\n\n> Really?\n> Bob\n`)
      assert.deepEqual([marked.content, marked.quoted], ['Yes.', `${line.trimEnd()}\n\n> Really?\n> Bob`])
      assert.equal(ofText(`Yes.\n${line}\n\nReally?\nBob`).content, 'Yes.')
      assert.equal(ofText(`${line}\n> Really?\n\nYes.`).content, 'Yes.')
    })
  }

  const undated = [
    'Bob wrote:',
    'Bob Doe <bob@x.test> wrote:',
    'On Monday, Bob Doe wrote:',
    '*Bob Doe* wrote:',
    'J. R. Doe (bob) wrote:',
    'Bob Doe schrieb:',
    'Bob a écrit :',
    'Bob escribió:',
    'Użytkownik Bob napisał:',
    'Bob napisał(a):',
    'Bob pisze:',
    'בוב כתב:',
    'מאת בוב:',
    'كتب بوب:',
    'بوب كتب:',
    'Боб пишет:',
    'ボブのメッセージ：',
    'Quoting Bob Doe <bob@x.test>:',
    'Zitat von Bob Doe:',
  ]
  for (const line of undated) {
    test(`"${line}" has no day and goes with the quotation behind it`, () => {
      for (const gap of ['', '\n']) {
        const { content, quoted } = ofText(`Yes.\n\n${line}\n${gap}> Really?\n\nNo.`)
        assert.deepEqual([content, quoted], ['Yes.\n\nNo.', `${line}\n${gap}> Really?`])
      }
      const html = `Yes.<p>${line.replaceAll('<', '&lt;')}</p><blockquote type=cite>Really?</blockquote>`
      assert.equal(ofHtml(html).content, 'Yes.')
      // What somebody quotes from elsewhere is what they say.
      if (!line.includes('@')) assert.match(ofText(`Yes.\n\n${line}\nReally?`).content, /Really\?$/)
      if (!line.includes('@')) assert.match(ofHtml(`${line}<blockquote>Really?</blockquote>`).content, /Really\?$/)
    })
  }

  const heads = [
    ['From: Bob <b@x.test>', 'Sent: Monday, January 2, 2030', 'To: Ana', 'Subject: Hi'],
    ['*From:* Bob [mailto:', 'b@x.test]', '*Sent:* Monday', '*To:* ana@x.test', '*Subject:* Hi'],
    ['Date: Mon, 2 Jan 2030 00:15:02 -0600', 'To: ana@x.test'],
    ['Von: Bob', 'Gesendet: Montag, 2. Januar 2030 14:59', 'An: Ana', 'Betreff: Hi'],
    ['De : Bob [mailto:b@x.test]', 'Envoyé : lundi 2 janvier 2030 16:39', 'À : Ana', 'Objet : Hi'],
    ['Da: Bob', 'Inviato: lunedì 2 gennaio 2030', 'A: Ana', 'Oggetto: Hi'],
    ['De: Bob', 'Enviado el: lunes, 2 de enero de 2030', 'Para: Ana', 'Asunto: Hi'],
    ['De: Bob', 'Enviada em: segunda-feira, 2 de janeiro', 'Para: Ana', 'Assunto: Hi'],
    ['Fra: Bob', 'Sendt: 2. januar 2030 12:10', 'Til: Ana', 'Emne: Hi'],
    ['Från: Bob', 'Skickat: den 2 januari 2030', 'Till: Ana', 'Ämne: Hi'],
    ['Van: Bob', 'Verzonden: maandag 2 januari 2030', 'Aan: Ana', 'Onderwerp: Hi'],
    ['Od: Bob', 'Wysłano: poniedziałek, 2 stycznia', 'Do: Ana', 'Temat: Hi'],
    ['От: Боб', 'Отправлено: понедельник', 'Кому: Ана', 'Тема: Hi'],
    ['Lähettäjä: Bob', 'Lähetetty: maanantai', 'Vastaanottaja: Ana', 'Aihe: Hi'],
    ['发件人: Bob', '发送时间: 2030年1月2日', '收件人: Ana', '主题: Hi'],
    ['差出人: Bob', '送信日時: 2030年1月2日', '宛先: Ana', '件名: Hi'],
  ]
  for (const head of heads) {
    test(`the head "${head[0]}" begins an earlier message`, () => {
      const { content, quoted } = ofText(`Yes.\n\n________________________________\n${head.join('\n')}\n\nReally?`)
      assert.deepEqual([content, quoted], ['Yes.', `________________________________\n${head.join('\n')}\n\nReally?`])
      assert.equal(ofText(`Yes.\n\n${head.join('\n')}\n\nReally?`).content, 'Yes.')
    })
  }

  test('what telephones add stands apart', () => {
    for (const line of [
      'Sent from my iPhone',
      'Get Outlook for Android<https://aka.ms/x>',
      'Gesendet von Outlook für Android<https://aka.ms/x>',
      'Von meinem iPhone gesendet',
      'Envoyé de mon iPhone',
      'Télécharger Outlook pour iOS<https://aka.ms/x>',
      'Enviado desde mi iPhone',
      'Inviato da iPhone',
      'Отправлено с iPhone',
      'iPhoneから送信',
      '发自我的iPhone',
    ]) {
      assert.deepEqual([ofText(`Yes.\n\n${line}`).content, ofText(`Yes.\n\n${line}`).signature], ['Yes.', line])
    }
  })

  test('a table inside a quotation is quoted as well', () => {
    const html = 'Own<blockquote type=cite><table><tr><td>a</td><td>b</td></tr></table></blockquote>'
    assert.deepEqual([ofHtml(html).content, ofHtml(html).quoted], ['Own', 'a | b'])
  })

  test('sentences that begin like an introduction or a footer are none', () => {
    for (const text of [
      'On Thursday, I get proper rendering.',
      'On the other hand, as she wrote:\nnothing',
      'I read it. That is the letter that he wrote:\nnothing',
      'في المنزل كتب كثيرة: نعم',
      'From: is a word here',
      'I read what he sent from my iPhone yesterday.',
      'Sent from my iPhone are many mails\nand this is one of them',
      '>From the beginning',
    ]) {
      assert.deepEqual([ofText(text).content, ofText(text).quoted, ofText(text).signature], [text, null, null])
    }
  })
})

describe('bounds', () => {
  const traps: [string, (size: number) => string][] = [
    ['open elements', (n) => '<div><p><b>x'.repeat(n)],
    ['ends of nothing', (n) => `${'<div>'.repeat(200)}${'</span></p></td>'.repeat(n)}`],
    ['items without end', (n) => '<ul><li>x<li>y'.repeat(n)],
    ['cells without end', (n) => '<table><tr><td>x<td>y'.repeat(n)],
    [
      'rules for every element',
      (n) => `<style>${'.a .b .c{color:red}'.repeat(300)}</style>${'<i class="a b c">x</i>'.repeat(n)}`,
    ],
    ['links without end', (n) => '<a href="https://x.test/">y'.repeat(n)],
  ]
  for (const [name, trap] of traps) {
    test(`${name}: twice the HTML takes twice the steps`, () => {
      const [once, twice] = [4000, 8000].map((size) => htmlLines(trap(size), 'markdown', 'inline').work)
      assert.ok(twice! <= once! * 2.2 + 1000, `${once} and then ${twice}`)
    })
  }

  test('too many comparisons end the reading, and what follows is not shown', () => {
    const rules = Array.from({ length: RULES_MAX }, (_, at) => `.x${at} .a{color:red}`).join('')
    const { lines, cut } = htmlLines(
      `<style>${rules}</style>${'<i class=a>x</i>'.repeat(4000)}<p>end</p>`,
      'text',
      'none',
    )
    assert.ok(cut)
    assert.ok(!lines.some(({ text }) => text === 'end'))
  })

  test('HTML beyond the bound is not read, and that is reported', () => {
    const { content, truncated } = ofHtml(`<p>start</p>${' '.repeat(HTML_MAX)}<p>end</p>`)
    assert.deepEqual([content, truncated], ['start', true])
  })

  test('lines beyond the bound are not read, and that is reported', () => {
    const many = ofText('a\n'.repeat(LINES_MAX + 1), { chars: 1_000_000 })
    assert.deepEqual([many.content.length, many.truncated], [LINES_MAX * 2 - 1, true])
    for (const html of ['a<br>'.repeat(LINES_MAX + 9), `<pre>${'a\n'.repeat(LINES_MAX + 9)}</pre><p>b`]) {
      const { lines } = htmlLines(html, 'text', 'none')
      assert.ok(lines.length <= LINES_MAX + 2)
    }
    assert.ok(ofText('a'.repeat(TEXT_MAX + 1)).truncated)
  })

  test('hostile lines cost no more than others', () => {
    const hostile = [
      'On 1 2 '.repeat(20_000),
      '>'.repeat(100_000),
      `${'On 1 a\n'.repeat(20_000)}wrote:`,
      '-'.repeat(100_000),
      'From: '.repeat(20_000),
      '\u200b \u200b'.repeat(30_000),
    ]
    for (const text of hostile) assert.ok(ofText(text).content.length <= 20_000)
  })
})
