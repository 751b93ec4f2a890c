// Converts a plain text message to simple HTML: paragraphs and links.

const STYLE = 'font:16px/1.5 system-ui,sans-serif;max-width:36em;color:#222'

/** @param text paragraphs separated by empty lines; a line that consists of one URL becomes a link */
export function plainTextHtml(text: string): string {
  const paragraphs = text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => `<p>${paragraph.split('\n').map(lineHtml).join('\n')}</p>`)
  return `<!doctype html>\n<html lang="en"><body style="${STYLE}">\n${paragraphs.join('\n')}\n</body></html>\n`
}

function lineHtml(line: string): string {
  const shown = escaped(line)
  return /^https?:\/\/\S+$/.test(line) ? `<a href="${shown}">${shown}</a>` : shown
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
