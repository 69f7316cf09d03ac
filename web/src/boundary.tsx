import { Component, type ComponentType, type ReactNode, useEffect, useState } from "react";
import { useLine } from "./live";

function Failed({ children, action, onAction }: { children: ReactNode; action: string; onAction: () => void }) {
  return (
    <section className="page failed" role="alert">
      <h1>This view did not load</h1>
      <p>{children}</p>
      <button onClick={onAction}>{action}</button>
    </section>
  );
}

// A Boundary keeps a mistake in one view from taking the others with it.
export class Boundary extends Component<{ children: ReactNode }, { err: Error | undefined }> {
  override state: { err: Error | undefined } = { err: undefined };

  static getDerivedStateFromError(err: Error) {
    return { err };
  }

  override render() {
    if (this.state.err === undefined) return this.props.children;
    return (
      <Failed action="Show it again" onAction={() => this.setState({ err: undefined })}>
        {String(this.state.err)}
      </Failed>
    );
  }
}

// later makes a view whose code is loaded when it is first opened. React's lazy
// remembers a failure for good; this tries again when the coordinator is back.
export function later(load: () => Promise<{ default: ComponentType }>): ComponentType {
  let View: ComponentType | undefined;
  return function Later() {
    const live = useLine() === "live";
    const [failed, setFailed] = useState(false);
    const [, setLoaded] = useState(false);
    useEffect(() => {
      if (View || (failed && !live)) return;
      let gone = false;
      load().then(
        (made) => {
          View = made.default;
          if (!gone) setLoaded(true);
        },
        () => !gone && setFailed(true),
      );
      return () => {
        gone = true;
      };
      // Once more when the stream is live again, not for each failure.
      // eslint-disable-next-line react-hooks/exhaustive-deps
    }, [live]);
    if (View) return <View />;
    if (!failed) return <p className="quiet pad">Loading …</p>;
    return (
      <Failed action="Reload the page" onAction={() => window.location.reload()}>
        {live
          ? "The coordinator no longer has this file, probably because it was upgraded."
          : "The coordinator doesn't answer. The view loads when it is back."}
      </Failed>
    );
  };
}
