// Loaded before the appliance: from a moment on the disk keeps nothing any more.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const FLUSHES_KEPT = 20
const { fdatasync } = fs
let flushes = 0

fs.fdatasync = (descriptor, done) => {
  if (++flushes > FLUSHES_KEPT) done(new Error('EIO: i/o error, fdatasync'))
  else fdatasync(descriptor, done)
}
syncBuiltinESMExports()
