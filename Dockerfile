# The builder runs on the machine's own platform and cross-compiles.
FROM --platform=$BUILDPLATFORM golang:1.26 AS builder
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=unknown
WORKDIR /workspace

COPY go.mod go.sum ./
RUN go mod download

COPY api/ api/
COPY cmd/ cmd/
COPY internal/ internal/
COPY pkg/ pkg/
RUN CGO_ENABLED=0 GOOS=${TARGETOS:-linux} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/ ./cmd/manager ./cmd/gateway

FROM gcr.io/distroless/static:nonroot
LABEL org.opencontainers.image.source=https://github.com/taskonce/taskonce \
      org.opencontainers.image.licenses=Apache-2.0
COPY --from=builder /out/manager /out/gateway /
USER 65532:65532
ENTRYPOINT ["/manager"]
