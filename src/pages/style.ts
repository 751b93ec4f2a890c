// The stylesheet of the pages: responsive, light or dark by device preference.

import { Type } from 'typebox'
import { sha256 } from '../base/secrets.ts'
import { bytes, route } from '../http/route.ts'

const CSS = `:root{color-scheme:light dark;--text:#1c2024;--soft:#60646c;--line:#d9d9e0;--paper:#fff;--card:#f9f9fb;--link:#0b57d0;--danger:#b3261e}
@media(prefers-color-scheme:dark){:root{--text:#edeef0;--soft:#b0b4ba;--line:#43484e;--paper:#111113;--card:#18191b;--link:#8ab4f8;--danger:#f2b8b5}}
*{box-sizing:border-box}
body{margin:0;font:1.0625rem/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--text);background:var(--paper)}
header{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;padding:.75rem 1.25rem;border-bottom:1px solid var(--line)}
header form{margin-left:auto;display:flex;gap:.75rem;align-items:center;color:var(--soft)}
nav{display:flex;gap:1rem}
main{max-width:44rem;margin:0 auto;padding:1.5rem 1.25rem 4rem}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0 1rem}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
a{color:var(--link)}
p.soft,.soft{color:var(--soft)}
.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem 1.25rem;margin:1rem 0}
.card>:first-child{margin-top:.25rem}details{margin-top:1rem}summary{cursor:pointer;padding:.5rem 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:.5rem 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
label{display:block;margin:.75rem 0}
label.line{display:flex;gap:.6rem;align-items:flex-start}
input[type=text],input[type=email],select{display:block;width:100%;font:inherit;padding:.6rem .75rem;margin-top:.25rem;border:1px solid var(--line);border-radius:.5rem;background:var(--paper);color:var(--text)}
input[type=checkbox],input[type=radio]{width:1.2rem;height:1.2rem;margin:.2rem 0 0;flex:none}
button{font:inherit;font-weight:600;padding:.65rem 1.1rem;border:1px solid transparent;border-radius:.5rem;background:var(--link);color:var(--paper);cursor:pointer;min-height:2.75rem}
button.quiet{background:none;color:var(--link);border-color:var(--line);font-weight:400}
button.danger{background:var(--danger)}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin:1rem 0 0}
code{font:0.95em/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
.secret{display:block;padding:.75rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem}
table{width:100%;border-collapse:collapse}
th{text-align:left;color:var(--soft);font-weight:400}
th,td{padding:.5rem .5rem .5rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td:first-child{overflow-wrap:anywhere}th,td code,button{white-space:nowrap}
@media(max-width:34rem){dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}.actions button{width:100%}thead{display:none}td{display:block;border:0;padding:.1rem 0}tr{display:block;border-bottom:1px solid var(--line);padding:.6rem 0}}
`

const TEXT = Buffer.from(CSS)
/** From the content: the next version may have the same length. */
const ETAG = `W/"${sha256(TEXT).toString('base64url').slice(0, 16)}"`

export const stylesheet = route({
  method: 'GET',
  path: '/style.css',
  root: true,
  docs: {
    hidden: true,
    operation: 'getStylesheet',
    tag: 'Pages',
    summary: 'The stylesheet of the pages.',
  },
  access: { as: 'none' },
  limits: { uncounted: true },
  reply: { types: ['text/css'], schema: Type.Unknown() },
  handle() {
    return bytes({
      type: 'text/css; charset=utf-8',
      sizeBytes: TEXT.length,
      etag: ETAG,
      async *read(start, end) {
        yield TEXT.subarray(start, end)
      },
    })
  },
})
