#!/usr/bin/env node
// The command `mailstead`: runs the operator's CLI on the required Node version.

import process from 'node:process'

process.argv.splice(2, 0, 'src/cli/cli.ts')
await import('./run.js')
