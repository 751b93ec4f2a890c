// Validates attachments: file names, extensions, media types and content (docs/design/sending.md §13, docs/design/mailbox.md §7).

import { Buffer } from 'node:buffer'
import { invalid } from '../../base/errors.ts'
import type { DraftAttachment } from './draft.ts'
import { isLonger } from './draft-rules.ts'

export const ATTACHMENTS_MAX = 10
/** Characters of a file name and of a type with its parameters. */
export const SENT_FILE_NAME_MAX = 255
const TYPE_MAX = 255

const words = (text: string): string[] => text.split(' ')

const ALLOWED = new Set([
  ...words('txt md rtf pdf doc docx dotx odt ott pages tex epub log'),
  ...words('csv tsv xls xlsx xltx ods numbers json jsonl xml yaml yml geojson gpx kml kmz parquet'),
  ...words('ppt pptx pps ppsx potx odp key'),
  ...words('html htm eml ics vcf'),
  ...words('jpg jpeg png gif bmp tif tiff webp heic heif avif svg ico psd ai eps'),
  ...words('mp3 m4a aac wav ogg oga opus flac mp4 m4v mov webm mpg mpeg avi mkv 3gp'),
  ...words('zip gz tgz tar bz2 xz zst 7z rar'),
  ...words('dwg dxf stl step stp ttf otf woff woff2'),
  ...words('asc sig pgp gpg p7s p7m p7c'),
])

/** Executable file types: no setting allows these. */
const NEVER = new Set(
  words(
    'exe com bat cmd scr pif msi msp js jse vb vbe vbs ws wsf wsh ps1 psm1 hta cpl jar lnk reg chm dll sys app apk iso img docm ' +
      'xlsm pptm',
  ),
)

/** RFC 6838 4.2: names of types; RFC 2045 5.1: their parameters. */
const TYPE_WORD = '[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}'
const PARAMETER = '; ?[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,59}=(?:[A-Za-z0-9!#$%&^_.+-]+|"[ !#-\\[\\]-~]*")'
const MEDIA_TYPE = new RegExp(`^(${TYPE_WORD})/(${TYPE_WORD})((?:${PARAMETER})*)$`)
/** Parameters the composer writes itself. */
const OUR_PARAMETERS = /; ?(?:name|filename|boundary)=/i
/** A Content-ID without angle brackets (RFC 2392), limited to characters every client supports. */
const CONTENT_ID = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.@-]{1,250}$/

/** Whether a file of this name is never sent, whatever the settings; names as mail programs show them. */
export function isNeverSent(filename: string): boolean {
  const name = filename.replace(/[. ]{1,255}$/, '')
  return NEVER.has(name.slice(name.lastIndexOf('.') + 1).toLowerCase())
}

/** An attachment as it was given, its content in base64 or already as bytes. */
export interface GivenAttachment {
  filename: string
  content: string | Uint8Array
  type?: string | null
  disposition?: 'attachment' | 'inline' | null
  contentId?: string | null
}

/**
 * Validates the attachments of a message, but not their sizes.
 * @param extra additional extensions the operator allows (ATTACHMENT_EXTRA_EXTENSIONS)
 * @param checkName the rule for file names: that of sent files by default
 * @throws ProductError validation_error on `<field>`, or on `<field>.<index>.filename`, `.content`, `.type` or `.content_id`
 */
export function checkAttachments(
  field: string,
  given: readonly GivenAttachment[],
  extra: readonly string[],
  checkName: (field: string, filename: string) => string = (path, filename) => checkFileName(path, filename, extra),
): DraftAttachment[] {
  if (given.length > ATTACHMENTS_MAX) {
    throw invalid(field, 'too_big', `A message has at most ${ATTACHMENTS_MAX} attachments.`)
  }
  const known = new Set<string>()
  return given.map(({ filename, content, type, disposition, contentId }, index) => {
    const path = `${field}.${index}`
    const id = contentId == null ? null : checkContentId(`${path}.content_id`, contentId, known)
    return {
      filename: checkName(`${path}.filename`, filename),
      type: type == null ? null : checkType(`${path}.type`, type),
      content: typeof content === 'string' ? decodeContent(`${path}.content`, content) : content,
      disposition: disposition ?? 'attachment',
      contentId: id,
    }
  })
}

/**
 * Checks a file name that is sent.
 * @returns the name without trailing dots and spaces, which would hide its extension
 * @throws ProductError validation_error on `field`
 */
export function checkFileName(field: string, filename: string, extra: readonly string[]): string {
  // A name of dots alone has no extension either.
  const name = /^[. ]{1,255}$/.test(filename) ? '' : checkPlainName(field, filename)
  const dot = name.lastIndexOf('.')
  if (dot < 1) throw invalid(field, 'forbidden_value', 'A file name needs an extension, as in report.pdf.')
  const extension = name.slice(dot + 1).toLowerCase()
  if (NEVER.has(extension) || !(ALLOWED.has(extension) || extra.includes(extension))) {
    const shown = /^[a-z0-9]{1,16}$/.test(extension) ? `.${extension}` : 'this extension'
    throw invalid(field, 'forbidden_value', `Files with ${shown} cannot be sent.`)
  }
  return name
}

/**
 * Checks a file name that is stored, with any extension.
 * @returns the name without the dots and spaces at its end
 * @throws ProductError validation_error on `field`
 */
export function checkPlainName(field: string, filename: string): string {
  const wrong = (message: string) => invalid(field, 'invalid_format', message)
  if (filename === '') throw invalid(field, 'too_small', 'An attachment needs a file name.')
  if (isLonger(filename, SENT_FILE_NAME_MAX)) {
    throw invalid(field, 'too_big', `A file name has at most ${SENT_FILE_NAME_MAX} characters.`)
  }
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(filename)) throw wrong('A file name must not contain control characters.')
  if (/[/\\]/.test(filename)) throw wrong('A file name must not contain / or \\.')
  // "invoice\u202efdp.exe" is shown as "invoiceexe.pdf".
  if (/\p{Bidi_Control}/u.test(filename)) throw wrong('A file name must not change the direction of its text.')
  if (!filename.isWellFormed()) throw wrong('A file name must be made of whole characters.')
  const name = filename.replace(/[. ]{1,255}$/, '')
  if (name === '') throw wrong('A file name must not be made of dots and spaces alone.')
  return name
}

/**
 * The bytes of base64 (RFC 4648 3): nothing outside the alphabet, whole groups of four, no bits left over.
 * @throws ProductError validation_error on `field`
 */
export function decodeContent(field: string, text: string): Buffer {
  if (text === '') throw invalid(field, 'too_small', 'An attachment must not be empty.')
  const bytes = Buffer.from(text, 'base64')
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  // Node skips invalid characters, so that the result is shorter, and accepts the base64url alphabet.
  const whole = text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding
  const rest = bytes.subarray(bytes.length - (bytes.length % 3 || 3)).toString('base64')
  if (!whole || /[-_]/.test(text) || rest !== text.slice(-4)) {
    throw invalid(field, 'invalid_format', 'The content must be base64 with padding, without line breaks.')
  }
  return bytes
}

/**
 * The media type of a file, its type and subtype in lower case.
 * @throws ProductError validation_error on `field`
 */
export function checkType(field: string, type: string): string {
  const found = type.length <= TYPE_MAX ? MEDIA_TYPE.exec(type) : null
  if (found === null || OUR_PARAMETERS.test(found[3]!)) {
    throw invalid(field, 'invalid_format', 'The type must be a media type, as in application/pdf.')
  }
  const name = `${found[1]}/${found[2]}`.toLowerCase()
  // Composite types (RFC 2046 §5.1, §5.2); only a complete message can be attached.
  if (/^(?:multipart|message)\//.test(name) && name !== 'message/rfc822') {
    throw invalid(field, 'forbidden_value', `An attachment cannot be of the type ${name}.`)
  }
  return name + found[3]
}

function checkContentId(field: string, given: string, known: Set<string>): string {
  const id = given.replace(/^<(.*)>$/, '$1')
  if (!CONTENT_ID.test(id)) {
    throw invalid(
      field,
      'invalid_format',
      'A content id is made of ASCII letters, digits and signs, as in logo@example.com.',
    )
  }
  if (known.has(id)) throw invalid(field, 'duplicate', `The content id ${id} is used twice.`)
  known.add(id)
  return id
}
