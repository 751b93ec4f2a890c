// Files of the web application: their names hold a hash, so that browsers may keep them for ever.

import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { notFound } from '../base/errors.ts'
import { codingsOf } from '../http/compress.ts'
import { bytes, type Route, route } from '../http/route.ts'
import type { WebBuild } from './web-build.ts'

const FOR_EVER = 'public, max-age=31536000, immutable'
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  webmanifest: 'application/manifest+json',
}
/** A style or a picture of this kind may hold script, which runs when it is opened as a page. */
const SANDBOX = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

export function assetRoute(build: WebBuild): Route {
  return route({
    method: 'GET',
    path: '/assets/{file}',
    root: true,
    docs: { hidden: true, operation: 'getAsset', tag: 'Pages', summary: 'A file of the web application.' },
    access: { as: 'none' },
    limits: { uncounted: true },
    params: Type.Object({ file: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$' }) }),
    reply: { types: Object.values(TYPES).map((type) => type.split(';')[0]!), schema: Type.Unknown() },
    handle({ params: { file }, request }) {
      const type = TYPES[file.slice(file.lastIndexOf('.') + 1)]
      const sizes = Object.entries(build.manifest()?.sizes ?? {}).find(([name]) => name === file)?.[1]
      // Only what the build names is served: nothing else of the folder, and nothing beside it.
      if (sizes === undefined || type === undefined) throw notFound('file')
      const coding = codingsOf(request.acceptEncoding).find((one) => sizes[one] !== undefined)
      const { suffix, sizeBytes } = pick(sizes, coding)
      return bytes({
        type,
        sizeBytes,
        etag: `W/"${file}"`,
        headers: {
          'Cache-Control': FOR_EVER,
          Vary: 'Accept-Encoding',
          'Content-Security-Policy': SANDBOX,
          'Cross-Origin-Resource-Policy': 'same-origin',
          ...(coding === undefined ? {} : { 'Content-Encoding': coding }),
        },
        read: (start, end) => createReadStream(join(build.folder, file + suffix), { start, end: end - 1 }),
      })
    },
  })
}

function pick(sizes: { bytes: number; gzip?: number; br?: number }, coding: 'br' | 'gzip' | undefined) {
  if (coding === undefined) return { suffix: '', sizeBytes: sizes.bytes }
  return { suffix: coding === 'br' ? '.br' : '.gz', sizeBytes: sizes[coding]! }
}
