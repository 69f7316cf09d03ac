# The coordinator with its dashboard, built from a clone alone: docker build .
# A release has the same image ready; deploy/Dockerfile is what it is made with.
ARG NODE_IMAGE=docker.io/library/node:22-slim
ARG GO_IMAGE=docker.io/library/golang:1.26

FROM ${NODE_IMAGE} AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY client/typescript ../client/typescript
COPY web ./
RUN npm run build

FROM ${GO_IMAGE} AS program
WORKDIR /src
COPY . .
COPY --from=web /src/web/dist web/dist
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o /out/c3po ./cmd/c3po

FROM scratch
COPY --chown=65532:65532 deploy/home/ /home/c3po/
COPY --from=program /out/c3po /usr/bin/c3po
USER 65532:65532
WORKDIR /home/c3po
# Other machines reach it, so TLS is on.
ENV HOME=/home/c3po PATH=/usr/bin C3PO_LISTEN=:8420
EXPOSE 8420
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s --retries=3 CMD ["/usr/bin/c3po", "health"]
ENTRYPOINT ["/usr/bin/c3po"]
CMD ["serve"]
