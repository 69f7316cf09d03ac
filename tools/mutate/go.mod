module github.com/c3po-dev/c3po/tools/mutate

go 1.26.0
