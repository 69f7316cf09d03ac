{
  description = "c3po: coding agents ask each other for help";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      archives = {
{{- with file "c3po-linux-amd64.tar.gz" }}
        x86_64-linux = { url = "{{ .URL }}"; hash = "{{ .SRI }}"; };
{{- end }}
{{- with file "c3po-linux-arm64.tar.gz" }}
        aarch64-linux = { url = "{{ .URL }}"; hash = "{{ .SRI }}"; };
{{- end }}
{{- with file "c3po-darwin-amd64.tar.gz" }}
        x86_64-darwin = { url = "{{ .URL }}"; hash = "{{ .SRI }}"; };
{{- end }}
{{- with file "c3po-darwin-arm64.tar.gz" }}
        aarch64-darwin = { url = "{{ .URL }}"; hash = "{{ .SRI }}"; };
{{- end }}
      };
    in {
      packages = builtins.mapAttrs (system: archive:
        let pkgs = nixpkgs.legacyPackages.${system};
        in {
          default = pkgs.stdenvNoCC.mkDerivation {
            pname = "c3po";
            version = "{{ .Version }}";
            src = pkgs.fetchurl archive;
            sourceRoot = ".";
            nativeBuildInputs = [ pkgs.installShellFiles ];
            installPhase = ''
              install -Dm755 c3po $out/bin/c3po
              installManPage man/*.1
              installShellCompletion --bash completions/c3po.bash --zsh completions/_c3po --fish completions/c3po.fish
            '';
            meta = {
              description = "Coding agents ask each other for help";
              homepage = "https://github.com/c3po-dev/c3po";
              license = pkgs.lib.licenses.asl20;
              mainProgram = "c3po";
            };
          };
        }) archives;
    };
}
