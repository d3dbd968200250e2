package interop;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * gRPC client of grpc-java, driven by lines on standard input; see ../../lib/grpc_client.ts. It knows
 * nothing but what GRPC_XDS_BOOTSTRAP says and the targets that it is told.
 */
public final class Client {
  private static final long DEADLINE_SECONDS = 30;
  private static final MethodDescriptor<String, String> METHOD =
      MethodDescriptor.<String, String>newBuilder(new Text(), new Text())
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName("pinnace.interop.Echo/Say")
          .build();

  private final Map<String, ManagedChannel> channels = new HashMap<>();
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final Tally tally = new Tally();
  private ScheduledFuture<?> loop;

  /** Messages are UTF-8 as it is. */
  private static final class Text implements MethodDescriptor.Marshaller<String> {
    @Override
    public InputStream stream(String value) {
      return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String parse(InputStream stream) {
      try {
        return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  public static void main(String[] args) throws Exception {
    Client client = new Client();
    Tally.say("{\"event\":\"ready\"}");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      client.obey(line.trim().split("\\s+"));
    }
    System.exit(0);
  }

  private void obey(String[] words) throws InterruptedException {
    switch (words[0]) {
      case "call" -> call(words[1], Integer.parseInt(words[2]), words[3]);
      case "start" -> start(words[1], Long.parseLong(words[2]), words[3]);
      case "report" -> tally.tell("report");
      case "stop" -> {
        if (loop != null) loop.cancel(false);
        tally.awaitSettled();
        tally.tell("stopped");
      }
      default -> throw new IllegalArgumentException("no such command: " + words[0]);
    }
  }

  private void call(String target, int count, String hold) throws InterruptedException {
    Tally own = new Tally();
    for (int i = 0; i < count; i++) {
      begin(target, hold, own);
      own.awaitSettled();
    }
    own.tell("called");
  }

  private void start(String target, long every, String hold) {
    channel(target);
    loop = clock.scheduleAtFixedRate(
        () -> begin(target, hold, tally), 0, every, TimeUnit.MILLISECONDS);
    Tally.say("{\"event\":\"started\"}");
  }

  private synchronized ManagedChannel channel(String target) {
    return channels.computeIfAbsent(
        target,
        text -> Grpc.newChannelBuilder(text, InsecureChannelCredentials.create()).build());
  }

  private void begin(String target, String hold, Tally tally) {
    CallOptions options =
        CallOptions.DEFAULT.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
    ClientCall<String, String> call = channel(target).newCall(METHOD, options);
    tally.started();
    call.start(new Listener(tally), new Metadata());
    call.request(2);
    call.sendMessage(hold);
    call.halfClose();
  }

  private static final class Listener extends ClientCall.Listener<String> {
    private final Tally tally;
    private volatile String answer = "";

    Listener(Tally tally) {
      this.tally = tally;
    }

    @Override
    public void onMessage(String message) {
      answer = message;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      tally.finished(status, answer);
    }
  }
}
