package interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ConsumerConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/**
 * Dubbo consumer. Arguments: providedBy=, and either registry= with metadata= (port at which it asks
 * providers for their metadata), or mesh=true: no registry, calls go to
 * tri://providedBy.NAMESPACE.svc.cluster.local:80, so to a sidecar.
 *
 * Lines on standard input: "call N": so many calls, one after the other, then a tally; "start MS": a
 * call every MS milliseconds until "stop", which gives the tally.
 */
public final class Consumer {
  private static final int TIMEOUT_MS = 5_000;

  private final Greeter greeter;
  private Loop loop;

  private Consumer(Greeter greeter) {
    this.greeter = greeter;
  }

  public static void main(String[] words) throws Exception {
    Arguments arguments = new Arguments(words);
    Consumer consumer = new Consumer(connect(arguments));
    Report.line("{\"event\":\"up\"}");
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) consumer.obey(line);
    System.exit(0);
  }

  private static Greeter connect(Arguments arguments) {
    boolean mesh = arguments.has("mesh");
    ApplicationConfig application = new ApplicationConfig("interop-consumer");
    application.setQosEnable(false);
    if (arguments.has("metadata")) application.setMetadataServicePort(arguments.number("metadata"));
    RegistryConfig registry =
        new RegistryConfig(mesh ? RegistryConfig.NO_AVAILABLE : arguments.text("registry"));
    registry.setRegisterMode("instance");

    ReferenceConfig<Greeter> reference = new ReferenceConfig<>();
    reference.setInterface(Greeter.class);
    reference.setProvidedBy(arguments.text("providedBy"));
    reference.setCheck(false);
    reference.setTimeout(TIMEOUT_MS);
    reference.setRetries(0);
    ConsumerConfig consumer = new ConsumerConfig();
    DubboBootstrap bootstrap = DubboBootstrap.getInstance();
    if (mesh) {
      consumer.setMeshEnable(true);
      bootstrap.protocol(new ProtocolConfig("tri", -1)); // without one it refuses to start
    }
    bootstrap.application(application).registry(registry).consumer(consumer).reference(reference);
    bootstrap.start();
    return reference.get();
  }

  private void obey(String line) throws InterruptedException {
    String[] words = line.trim().split(" ");
    switch (words[0]) {
      case "call" -> {
        Tally tally = new Tally();
        for (int i = 0; i < Integer.parseInt(words[1]); i++) call(tally);
        Report.line(tally.json());
      }
      case "start" -> {
        loop = new Loop(Long.parseLong(words[1]));
        loop.start();
      }
      case "stop" -> {
        loop.end();
        Report.line(loop.tally.json());
      }
      default -> throw new IllegalArgumentException("unknown order: " + line);
    }
  }

  private void call(Tally tally) {
    try {
      tally.answer(greeter.whoAnswers("who?"));
    } catch (Throwable error) {
      tally.failure(error);
    }
  }

  /** Calls without end. */
  private final class Loop extends Thread {
    final Tally tally = new Tally();
    private final long pauseMs;
    private volatile boolean ended;

    Loop(long pauseMs) {
      this.pauseMs = pauseMs;
    }

    @Override
    public void run() {
      while (!ended) {
        call(tally);
        try {
          Thread.sleep(pauseMs);
        } catch (InterruptedException e) {
          return;
        }
      }
    }

    void end() throws InterruptedException {
      ended = true;
      join();
    }
  }
}
