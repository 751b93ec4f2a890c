# Mailstead as one container: the bundle of `npm run build` and the pages of `npm run build:web`, without packages.

FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY web/package.json web/
# The builder brings its program as a package: nothing needs to run at the installation.
RUN npm ci --ignore-scripts
COPY scripts scripts
COPY src src
COPY web/src web/src
RUN node scripts/build.ts && node scripts/build-web.ts

FROM node:26-slim
# The cache of compiled code makes every start but the first one faster; two heaps of glibc that give back what is free take less memory.
ENV NODE_ENV=production DATA_DIR=/data NODE_COMPILE_CACHE=/tmp/mailstead MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=131072 \
    NODE_OPTIONS="--v8-pool-size=1 --max-semi-space-size=8 --expose-gc"
# The ports below are published as these, also in a trial.
ENV CLIENT_PUBLIC_PORTS=993,143,465,587,4190
WORKDIR /app
COPY package.json LICENSE ./
COPY docs docs
COPY --from=build /app/dist dist
COPY --from=build /app/web/dist web/dist
RUN printf '#!/bin/sh\nexec node /app/dist/cli.js "$@"\n' > /usr/local/bin/mailstead && chmod +x /usr/local/bin/mailstead \
 && mkdir /data && chown node:node /data
USER node
VOLUME /data
# SMTP, IMAP, submission (TLS and STARTTLS), ManageSieve, Management and Mailbox API, Sending API. Publish 2525 as 25 where mail comes from outside.
EXPOSE 2525 2993 2465 2587 4190 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.HTTP_PORT || 8080) + '/healthz').then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/cli.js", "serve"]
