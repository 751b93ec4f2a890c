// Stylesheets of the documentation: light or dark as the device prefers; three columns on a wide screen, one on a phone.

/** Colours, type and the bar at the top: shared with the API reference, whose own elements must not be touched. */
const BASE = `:root{color-scheme:light dark;--paper:#fff;--panel:#f5f6f8;--selection:#e4edfb;--line:#dde1e7;--line-soft:#eceef2;--text:#1a1d21;--soft:#565d68;--accent:#1d5bb8;--accent-strong:#174a97;--warn:#85500a;--warn-wash:#fbf1df;--hover:#eff1f4}
@media(prefers-color-scheme:dark){:root{--paper:#14161a;--panel:#1b1e23;--selection:#21314f;--line:#2e333b;--line-soft:#23272e;--text:#e8eaed;--soft:#a7aeb9;--accent:#8ab4ff;--accent-strong:#a9c8ff;--warn:#f0b95c;--warn-wash:#2d2413;--hover:#22262c}}
body{margin:0;font:400 15px/24px system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--text);background:var(--paper);letter-spacing:-.006em}
.bar :focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
.bar{position:sticky;top:0;z-index:10;display:flex;align-items:center;gap:8px;height:52px;padding:0 24px;background:var(--paper);border-bottom:1px solid var(--line)}
.bar .brand{display:flex;align-items:center;gap:8px;font-weight:600;color:var(--text);text-decoration:none}
.bar svg{width:22px;height:22px}
.bar .part{color:var(--soft)}
.bar nav{margin-left:auto;display:flex;gap:4px}
.bar nav a{padding:4px 8px;border-radius:6px;color:var(--soft);text-decoration:none;font-size:14px}
.bar nav a:hover{background:var(--hover);color:var(--text)}
.bar nav a[aria-current]{color:var(--text);font-weight:500}
.bar *{box-sizing:border-box}
@media(max-width:760px){.bar{padding:0 16px}.bar .part{display:none}}
`

const PAGE = `:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
*{box-sizing:border-box}
html{scroll-padding-top:68px;-webkit-text-size-adjust:100%}
a{color:var(--accent);text-underline-offset:2px}a:hover{color:var(--accent-strong)}
.skip{position:absolute;left:-999px}.skip:focus{left:16px;top:12px;z-index:20;padding:4px 12px;background:var(--paper);border-radius:6px}
.layout{display:grid;grid-template-columns:240px minmax(0,1fr) 232px;max-width:1400px;margin:0 auto}
.side{padding:24px 12px 48px 20px;border-right:1px solid var(--line-soft)}
.side>div,.toc>div{position:sticky;top:76px;max-height:calc(100vh - 100px);overflow-y:auto}
.side h2,.toc h2{margin:20px 0 4px;padding:0 12px;font:600 12px/16px inherit;font-size:12px;line-height:16px;font-weight:600;color:var(--soft);border:0}
.toc h2{padding:0 14px}.side h2:first-child,.toc h2:first-child{margin-top:0}
.side ul,.toc ul{list-style:none;margin:0;padding:0}
.side a{display:block;padding:4px 12px;border-radius:6px;color:var(--text);text-decoration:none;font-size:14px;line-height:24px}
.side a:hover{background:var(--hover)}
.side a[aria-current]{background:var(--selection);font-weight:500}
main{min-width:0;padding:32px 48px 64px}
main>*{max-width:760px}
.toc{padding:36px 20px 48px 0}
.toc a{display:block;padding:2px 12px;color:var(--soft);text-decoration:none;font-size:13px;line-height:20px;border-left:2px solid var(--line-soft)}
.toc a:hover{color:var(--text);border-color:var(--accent)}
.toc .l3 a{padding-left:24px}
.small{display:none}
h1{font-size:28px;line-height:36px;font-weight:600;letter-spacing:-.02em;margin:0 0 12px}
h2{font-size:22px;line-height:28px;font-weight:600;letter-spacing:-.015em;margin:44px 0 12px}
h3{font-size:18px;line-height:24px;font-weight:600;letter-spacing:-.01em;margin:32px 0 8px}
h4{font-size:15px;line-height:24px;font-weight:600;margin:24px 0 4px}
h1+p,h1+.onthis+p{font-size:17px;line-height:26px;color:var(--soft)}
.anchor{color:var(--soft);text-decoration:none;font-weight:400;opacity:0;padding:0 4px}
:is(h2,h3,h4):hover .anchor,.anchor:focus-visible{opacity:1}
:target{scroll-margin-top:68px}
p,ul,ol,pre,.table,blockquote{margin:0 0 16px}
ul,ol{padding-left:24px}li{margin:4px 0}li>p{margin:0 0 8px}
code{font:12.5px/20px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-variant-ligatures:none;padding:2px 5px;border-radius:4px;background:var(--panel);overflow-wrap:anywhere}
pre{padding:12px 16px;overflow-x:auto;background:var(--panel);border:1px solid var(--line-soft);border-radius:10px}
pre code{padding:0;background:none;overflow-wrap:normal;white-space:pre}
.comment{color:var(--soft)}
.table{overflow-x:auto;border:1px solid var(--line);border-radius:10px}
table{width:100%;border-collapse:collapse;font-size:14px;line-height:20px;font-variant-numeric:tabular-nums}
th{text-align:left;font-weight:500;font-size:12px;line-height:16px;color:var(--soft);background:var(--panel)}
th,td{padding:8px 12px;border-bottom:1px solid var(--line-soft);vertical-align:top}
tr:last-child td{border-bottom:0}
td code{overflow-wrap:normal}td:first-child code{white-space:nowrap}
blockquote{padding:10px 16px;background:var(--warn-wash);border-radius:10px;border:1px solid var(--line-soft)}
blockquote>:last-child{margin:0}blockquote strong:first-child{color:var(--warn)}
hr{border:0;border-top:1px solid var(--line);margin:32px 0}
.turn{display:flex;justify-content:space-between;gap:16px;margin-top:48px;padding-top:20px;border-top:1px solid var(--line)}
.turn a{text-decoration:none;font-weight:500}.turn span{display:block;font-size:12px;line-height:16px;font-weight:400;color:var(--soft)}.turn .next{margin-left:auto;text-align:right}
.cards{display:grid;grid-template-columns:1fr 1fr;gap:12px;padding:0;list-style:none}
@media(max-width:1120px){.layout{grid-template-columns:232px minmax(0,1fr)}.toc{display:none}.small.onthis{display:block}}
@media(max-width:760px){body{font-size:16px}.layout{display:block}.side{display:none}.small{display:block}main{padding:20px 20px 56px}.anchor{display:none}h1{font-size:26px;line-height:34px}.table{overflow:visible}thead{display:none}tr,td{display:block}tr{padding:10px 14px;border-bottom:1px solid var(--line-soft)}tr:last-child{border-bottom:0}td{padding:1px 0;border:0}td:first-child{font-weight:500}td:first-child code{white-space:normal}}
details.small{margin:0 0 16px;border:1px solid var(--line);border-radius:10px;background:var(--panel)}
.small summary{padding:10px 16px;font-weight:500;font-size:14px;cursor:pointer;min-height:44px}
.small ul{list-style:none;margin:0;padding:0 8px 12px}.small h2{margin:8px 8px 0;font-size:12px;line-height:16px;color:var(--soft)}
.small li{margin:0}.small li a{display:block;padding:10px 8px;color:var(--text);text-decoration:none;font-size:15px;border-radius:6px}.small li a[aria-current]{background:var(--selection)}
@media print{.bar,.side,.toc,.turn,.small{display:none!important}.layout{display:block}}
@media(forced-colors:active){.side a[aria-current]{outline:2px solid Highlight}}
`

/** Variables of Scalar, so that it looks like the rest. */
const REFERENCE = `[tabindex="-1"]:focus-visible,section:focus-visible{outline:none}
.light-mode,.dark-mode{--scalar-custom-header-height:52px;--scalar-radius:6px;--scalar-radius-lg:10px;--scalar-font:system-ui,-apple-system,"Segoe UI",sans-serif;--scalar-font-code:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.light-mode{--scalar-color-1:#1a1d21;--scalar-color-2:#565d68;--scalar-color-3:#565d68;--scalar-color-accent:#1d5bb8;--scalar-background-1:#fff;--scalar-background-2:#f5f6f8;--scalar-border-color:#dde1e7}
.dark-mode{--scalar-color-1:#e8eaed;--scalar-color-2:#a7aeb9;--scalar-color-3:#a7aeb9;--scalar-color-accent:#8ab4ff;--scalar-background-1:#14161a;--scalar-background-2:#1b1e23;--scalar-border-color:#2e333b}
`

export const DOC_STYLE = Buffer.from(BASE + PAGE)
export const REFERENCE_STYLE = Buffer.from(BASE + REFERENCE)
