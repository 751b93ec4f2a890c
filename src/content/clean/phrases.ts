// The phrases mail programs write around quotations, in many languages.

const either = (...lists: string[]): string => lists.join('|')

/** "wrote", as a line that introduces a quotation ends with it. */
const WROTE = either(
  'wrote|writes|sent|schrieb(?: am)?|(?:a|has) écrit|a ecrit|ha scritto|escribió|escribio|escreveu|schreef|heeft geschreven',
  'het volgende geschreven|geschreven|napisał(?:\\(a\\)|a)?|napsal(?:\\(a\\)|a)?|napísala?|skrev(?: följande)?|kirjoitti|пишет|писала?',
  'написала?|написал\\(а\\)|написав|a scris|írta|yazdı|έγραψε|写道|寫道|写了|のメッセージ|님이 작성|đã viết|menulis|va escriure',
  'napisał(?:\\(-?a\\)|/a)|napisali|pisze|napisao(?: je)?|napisala|пише|написа|כתב(?:ה|/ה|\\(ה\\)|/ו|ו)?|كتبت?|كتب/ت|كتب\\(ت\\)|نوشت(?:ه است)?',
)
/** What such a line begins with, beside a day. */
const ON = either(
  'on|am|le|il(?: giorno)?|in data|el(?: día)?|op|em|no dia|a|w dniu|dnia|den|på|pe|dne|dňa|в|от|στις|在|em data de|tarihinde|vào|pada',
  'sent from|mail from|--- on|في|بتاريخ|در(?: تاریخ)?|בתאריך|ביום|ב|wiadomość napisana przez|użytkownik|w|dn\\.',
)
const DAY = either(
  '\\p{Nd}|ב[-־]\\p{Nd}|יום |(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\\b|(?:lun|mar|mer|jeu|ven|sam|dim|gio|sab|dom|mié|jue|vie|sáb|seg|ter|qua|qui|sex)[a-zàìéí.-]*',
  '(?:mo|di|mi|do|fr|sa|so|ma|wo|vr|za|zo|man|tir|ons|tor|fre|lør|søn|mån|tis|lör|sön|pon|wt|śr|czw|pt|sob|nie|ke|ti|to|pe|la|su)[a-ząäö]*(?:[.,]|\\s\\d)',
  '(?:пн|вт|ср|чт|пт|сб|вс|понедельник|вторник|среда|четверг|пятница|суббота|воскресенье)[,.]?',
  '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\b',
)

/** Begins like a line that introduces a quotation: what is looked at more closely. */
export const MAY_INTRODUCE = new RegExp(
  `^[-*_>\\s]{0,12}(?:(?:${ON})[\\s,:]|${DAY})|^[^<>]{0,60}<[^\\s<>@]{1,60}@`,
  'iu',
)

/** "On <day> <name> wrote:", with the dashes some programs put around it. */
export const SOMEBODY_WROTE = new RegExp(
  `^[-*_\\s]{0,12}(?:(?:${ON})[\\s,:]|${DAY}).{0,560}?(?:${WROTE})\\s?[-–—*_\\s]{0,8}[:：]?[-–—*_\\s]{0,8}$`,
  'isu',
)

/** "wrote" where the name follows. */
const WROTE_BEFORE = either(
  'schreef|schrieb|skrev|skrifaði|wrote|napisał(?:a|\\(-?a\\))?|pisze|מאת|כתב(?:ה|/ה)?|كتبت?|كتب/ت|تمت كتابة ما يلي بواسطة',
)

/** "<day> wrote <name>:" as Dutch, German, Norwegian, Hebrew and Arabic have it. */
export const WROTE_SOMEBODY = new RegExp(
  `^[-*_\\s]{0,12}(?:(?:${ON})[\\s,:]|${DAY}).{0,200}\\s(?:${WROTE_BEFORE})\\s.{0,300}[:：]$`,
  'isu',
)

/** "<day>, <name> <address>:" */
export const DAY_AND_ADDRESS = new RegExp(
  `^[*_\\s]{0,4}(?:${DAY}).{0,300}(?:<[^<>]{0,20}[^\\s<>]{1,250}@[^<>]{1,250}>|\\([^\\s()]{1,250}@[^\\s()]{1,250}\\))\\s?[:：]$`,
  'isu',
)
/** "<name> <address> wrote on <day>:" */
export const SOMEBODY_WROTE_ON = new RegExp(
  `^[^<>\\n]{0,200}<[^\\s<>]{1,250}@[^\\s<>]{1,250}>\\s(?:${WROTE})\\s.{0,20}\\d.{0,100}[:：]$`,
  'isu',
)
/** The same without a colon: it needs a quotation behind it. */
export const DAY_AND_BARE_ADDRESS = new RegExp(`^(?:${DAY}).{0,200}<[^\\s<>]{1,250}@[^\\s<>]{1,250}>$`, 'isu')

/** "Message written by <name> <day>:", as Apple Mail has it in Polish. */
export const WRITTEN_BY = /^[-*_\s]{0,12}(?:wiadomość napisana przez|użytkownik)\s.{1,400}[:：]$/isu

/** A date has digits, of any script; "On the other hand, she wrote" has none. */
export const HAS_DATE = /\p{Nd}{1,4}\P{Nd}{1,12}\p{Nd}|@/u

/** What introduces a quotation without a day: "<name> wrote:", "wrote <name>:", "Quoting <name>:". */
const UNDATED = [
  new RegExp(
    `^[-*_\\s]{0,12}(.{1,160}?)(?:(?<=[\\s>)"”'])|(?<=[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}]))(?:${WROTE})\\s?[*_]{0,3}[:：][*_]{0,3}$`,
    'isu',
  ),
  /^[-*_\s]{0,12}(?:كتبت?|كتب\/ت|מאת|quoting|zitat von|zitiere|citando(?: a)?|citat från|cytat z|użytkownik|wiadomość napisana przez)\s(.{1,160})[:：][*_]{0,3}$/isu,
]
/** Words of a name, and what may stand beside it ("On Monday, Bob"); a sentence has more. */
const UNDATED_WORDS_MAX = 8

/** Counts only right before what is marked as quoted: "as she wrote:" may introduce anything. */
export function isUndatedIntroduction(text: string): boolean {
  for (const form of UNDATED) {
    const name = form
      .exec(text)?.[1]
      ?.replace(/[<(][^\s<>()]{1,250}[>)]/g, '')
      .trim()
    if (name !== undefined && !/[.!?]\s/.test(name.replace(/\b\p{L}{1,3}\./gu, ''))) {
      if (name.split(/\s+/).length <= UNDATED_WORDS_MAX) return true
    }
  }
  return false
}

const MESSAGE = either(
  'original (?:message|e-?mail)|reply message|ursprüngliche (?:nachricht|e-?mail)|originalnachricht|antwort nachricht',
  "message (?:d['’]origine|original)|courriel original|mensaje original|messaggio originale|mensagem original",
  'oprindelig (?:besked|meddelelse)|opprinnelig melding|ursprungligt meddelande|oorspronkelijk bericht|origineel bericht',
  'oryginalna wiadomość|wiadomość oryginalna|исходное сообщение|оригинальное сообщение|alkuperäinen viesti|původní zpráva',
  'pôvodná správa|eredeti üzenet|mesaj original|orijinal (?:mesaj|ileti)|αρχικό μήνυμα|原始邮件|原始郵件|邮件原件|元のメッセージ|원본 메시지',
)
export const ORIGINAL_MESSAGE = new RegExp(`^[-_=*\\s]{2,80}(?:${MESSAGE})[-_=*:\\s]{0,80}$`, 'iu')

const FORWARDED = either(
  'forwarded (?:message|by .{0,80})|weitergeleitete nachricht|message (?:transféré|transmis)|mensaje reenviado|messaggio inoltrato',
  'mensagem (?:encaminhada|reencaminhada)|videresendt (?:besked|meddelelse|melding)|vidarebefordrat meddelande|doorgestuurd bericht',
  'пересылаемое сообщение|переадресованное сообщение|przekazana wiadomość|wiadomość przekazana|välitetty viesti|přeposlaná zpráva',
  'továbbított üzenet|iletilen mesaj|转发的?邮件|轉寄的?郵件|転送メッセージ|전달된 메시지',
)
/** The start of a forwarded message. */
export const FORWARDED_MESSAGE = new RegExp(
  `^(?:[-_=*\\s]{2,80}(?:${FORWARDED})|begin forwarded message|anfang der weitergeleiteten (?:nachricht|e-?mail)|` +
    'début du message (?:réexpédié|transféré)|inizio messaggio inoltrato|inicio del mensaje reenviado)[-_=*:\\s]{0,80}$',
  'iu',
)

/** Header fields of quoted messages, in many languages. */
const FIELDS = {
  from: 'from|von|de|da|fra|från|van|od|от(?: кого)?|lähettäjä|expéditeur|remitente|remetente|mittente|avsändare|kimden|gönderen|feladó|από|de la|发件人|寄件者|差出人|보낸 ?사람',
  date: 'sent|date|gesendet|datum|envoyé(?: le)?|inviato|data|enviad[oa](?: em| el)?|fecha|sendt|dato|skickat|verzonden|wysłano|отправлено|дата|lähetetty|päivä|odesláno|gönderildi|tarih|elküldve|dátum|στάλθηκε|message du|发送时间|日期|寄件日期|送信日時|日時|보낸 ?날짜',
  to: 'to|an|à|a|till|til|aan|do|кому|para|per|pour|vastaanottaja|komu|kime|alıcı|címzett|προς|către|收件人|宛先|받는 ?사람',
  subject:
    'subject|betreff|objet|sujet|oggetto|asunto|assunto|emne|ämne|onderwerp|temat|тема|aihe|předmět|konu|tárgy|θέμα|subiect|主题|主旨|件名|제목',
  copy: 'cc|kopie(?: an)?|copie(?: à)?|copia|kopia|cópia|копия|kopi|dw|bilgi|抄送|副本',
} as const
export type QuotedField = keyof typeof FIELDS

const FIELD_LINES = (Object.entries(FIELDS) as [QuotedField, string][]).map(
  ([field, names]) => [field, new RegExp(`^[*_\\s|]{0,8}(?:${names})\\s{0,3}(?:\\*|_)?\\s?[:：|]`, 'iu')] as const,
)

/** The header field of a quoted message in a line, null for any other line. */
export function fieldOf(line: string): QuotedField | null {
  // All of them have their colon near the front; most lines have none there.
  if (!/[:：|]/.test(line.slice(0, 40))) return null
  return FIELD_LINES.find(([, form]) => form.test(line.slice(0, 60)))?.[0] ?? null
}

/** Lines that mobile mail programs append. */
export const SENT_FROM = new RegExp(
  `^[-*_\\s]{0,4}(?:${either(
    'sent (?:from|via|with|by|on) .{1,80}|get (?:the )?outlook for .{1,80}|get bluemail for .{1,40}|sent using .{1,60}',
    'von (?:meinem|unterwegs|mobil).{0,60}gesendet.{0,20}|von meinem .{1,60}|gesendet (?:von|mit|aus|über) .{1,80}|diese nachricht wurde von meinem .{1,80}',
    'envoyé (?:de(?:puis)?|à partir) .{1,80}|enviado (?:desde|do|a partir|com|con|mediante) .{1,80}|inviato (?:da|dal|con) .{1,80}|mandat de .{1,60}',
    'verzonden (?:vanaf|met|van|via) .{1,80}|verstuurd vanaf .{1,80}|sendt fra .{1,80}|skickat från .{1,80}|lähetetty .{1,60}',
    'отправлено (?:с|из|от) .{1,80}|wysłan[eoy] z .{1,80}|odesláno z .{1,80}|odoslané z .{1,80}|trimis de pe .{1,80}|küldve .{1,60}',
    '.{1,40}から送信|发自我的.{1,40}|從我的 ?.{1,40}傳送|从我的 ?.{1,40}发送|나의 .{1,40}에서 보냄|.{1,40}(?:dan|den) gönderildi',
    'télécharger outlook pour .{1,60}|scarica outlook per .{1,60}|hämta outlook för .{1,60}|hent outlook (?:til|for) .{1,60}',
    'obtenir outlook pour .{1,60}|obtenga outlook para .{1,60}|outlook für .{1,60}|download outlook .{1,60}|descarga outlook .{1,60}',
  )})$`,
  'iu',
)
